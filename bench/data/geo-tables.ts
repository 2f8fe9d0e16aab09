// Geo tables of about a million ranges each: real countries, and made-up data that is the same in
// every run.
import { createRequire } from 'node:module'
import { unitVector } from '#bundle/encode/routing-columns.ts'
import { Random } from '#lib/random.ts'
import { countryRow, fillCountryColumns, geoCountryRows } from '#routing/geo/countries.ts'
import { packCode, unpackCode } from '#routing/geo/countries.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import type { AsnBuffers, CountryBuffers, LocationBuffers } from '#routing/geo/geo-tables.ts'
import { placeKeys } from '#routing/geo/place-key.ts'
import { RangeTableBuilder } from '#routing/tables/range-table-builder.ts'
import { loadGeo } from '#inputs/geo/load.ts'

const require = createRequire(import.meta.url)
export const worldPath: string =
  require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb')

const million = 1_000_000
/** Share of IPv4 among a million rows; the others are IPv6. */
const share4 = 0.65
/** The /12 that the five registries give IPv6 networks from. */
const registries6 = [0x2400_0000, 0x2600_0000, 0x2800_0000, 0x2a00_0000, 0x2c00_0000]
export const operatorCount = 80_000

/** Countries as the table on the package's page has them: merged ranges, 616,000 or so. */
export function worldCountries(): CountryBuffers {
  const loaded = loadGeo({ setting: 'geoip.dbPath', path: worldPath })
  if (!loaded.ok) throw new Error(loaded.error)
  return loaded.buffers.country!
}

/** Neighbouring ranges have different countries, so that none are merged. */
export function millionCountries(): CountryBuffers {
  const countryCode = new Uint16Array(new SharedArrayBuffer(geoCountryRows * 2))
  const continentCode = new Uint16Array(new SharedArrayBuffer(geoCountryRows * 2))
  fillCountryColumns(countryCode, continentCode)
  const known = [...countryCode.keys()].filter((row) => continentCode[row] !== 0)
  // The first countries get most of the addresses, as in reality.
  const first = ['US', 'CN', 'JP', 'DE', 'GB', 'BR', 'KR', 'FR', 'IN', 'AU', 'NL', 'CA', 'IT']
  const rows = [...new Set([...first.map((code) => countryRow(packCode(code))), ...known])]
  const ranges = millionRanges(1, (u) => rows[Math.floor(rows.length ** u) - 1]!)
  return {
    ranges,
    countryCode: countryCode.buffer,
    continentCode: continentCode.buffer,
    subdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
    outerSubdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
  }
}

/** Values and numbers are 1 to `operatorCount`: smaller ones have more networks. */
export function millionOperators(): AsnBuffers {
  const rows = operatorCount + 1
  const asnNumber = new Uint32Array(new SharedArrayBuffer(rows * 4))
  for (let row = 0; row < rows; row++) asnNumber[row] = row
  return {
    ranges: millionRanges(2, (u) => Math.floor(operatorCount ** u)),
    asnNumber: asnNumber.buffer,
    organisationOffset: new SharedArrayBuffer((rows + 1) * 4),
    organisationText: new SharedArrayBuffer(1),
  }
}

const citiesPerCountry = 50

/** The ranges of the world, halved, each half in a city of its country. */
export function worldPlaces(world: CountryBuffers): LocationBuffers {
  const table = new CountryTable(world)
  const builder = new RangeTableBuilder()
  const random = new Random(3)
  const valueOf = (country: number): number =>
    country === 0 ? 0 : 1 + country * citiesPerCountry + random.below(citiesPerCountry)
  const { ranges } = table
  for (let row = 0; row < ranges.count4; row++) {
    const start = ranges.start4(row)
    const end = row + 1 < ranges.count4 ? ranges.start4(row + 1) - 1 : 0xffff_ffff
    const middle = Math.floor((start + end) / 2)
    builder.add4(start, middle, valueOf(ranges.value4(row)))
    if (middle < end) builder.add4(middle + 1, end, valueOf(ranges.value4(row)))
  }
  const [from, to] = [new Uint32Array(4), new Uint32Array(4)]
  for (let row = 0; row < ranges.count6; row++) {
    for (let word = 0; word < 4; word++) from[word] = ranges.start6(row, word)
    if (row + 1 < ranges.count6) {
      for (let word = 0; word < 4; word++) to[word] = ranges.start6(row + 1, word)
      for (let word = 3; word >= 0 && to[word]!-- === 0; word--);
    } else to.fill(0xffff_ffff)
    builder.add6(from, to, valueOf(ranges.value6(row)))
  }
  const places = cities(table)
  return { ranges: builder.build(placeKeys(places)), ...places }
}

/** Rough area of each continent's countries: latitude, longitude, and spread. */
const continents: Readonly<Record<string, readonly [number, number, number]>> = {
  AF: [5, 20, 20],
  AN: [-75, 0, 10],
  AS: [30, 95, 30],
  EU: [50, 12, 12],
  NA: [38, -95, 22],
  OC: [-25, 140, 20],
  SA: [-15, -60, 15],
}

function cities({ continentCode }: CountryTable): Omit<LocationBuffers, 'ranges'> {
  const rows = 1 + geoCountryRows * citiesPerCountry
  const column = (): Float32Array<SharedArrayBuffer> =>
    new Float32Array(new SharedArrayBuffer(rows * 4))
  const [x, y, z] = [column(), column(), column()]
  const random = new Random(4)
  const spread = (degrees: number): number => (random.below(2_001) / 1_000 - 1) * degrees
  for (let country = 1; country < geoCountryRows; country++) {
    const [lat, lon, apart] = continents[unpackCode(continentCode[country]!)] ?? [0, 0, 0]
    const [countryLat, countryLon] = [lat + spread(apart), lon + spread(apart)]
    for (let city = 0; city < citiesPerCountry; city++) {
      const row = 1 + country * citiesPerCountry + city
      ;[x[row], y[row], z[row]] = unitVector(countryLat + spread(4), countryLon + spread(4))
    }
  }
  const countryRows = new SharedArrayBuffer(rows * 2)
  return { x: x.buffer, y: y.buffer, z: z.buffer, countryRow: countryRows }
}

/** Ascending starts of a million ranges; each range extends to the next start. */
export function millionStarts(seed: number): { starts4: Uint32Array; starts6: Uint32Array } {
  const random = new Random(seed)
  const count4 = million * share4
  const starts4 = new Uint32Array(count4)
  // Whole /24 networks, as in registries and routes.
  const step4 = 2 ** 24 / count4
  for (let i = 0; i < count4; i++) {
    starts4[i] = Math.floor((i + random.below(1_000) / 2_000) * step4) * 256
  }
  const perRegistry = (million - count4) / registries6.length
  const step6 = 2 ** 24 / perRegistry
  const starts6 = new Uint32Array((million - count4) * 2)
  for (let i = 0; i < million - count4; i++) {
    const registry = Math.floor(i / perRegistry)
    // A place has the 20 bits after the registry's and four more: a /32 or a part of one.
    const place = Math.floor(((i % perRegistry) + random.below(1_000) / 2_000) * step6)
    starts6[i * 2] = registries6[registry]! + (place >>> 4)
    starts6[i * 2 + 1] = (place & 15) * 2 ** 28
  }
  return { starts4, starts6 }
}

/** @param valueOf maps a number between 0 and 1 to a value, different for neighbours */
function millionRanges(seed: number, valueOf: (u: number) => number): SharedArrayBuffer {
  const { starts4, starts6 } = millionStarts(seed)
  const random = new Random(seed + 100)
  const builder = new RangeTableBuilder()
  let before = 0
  const next = (): number => {
    let value = before
    while (value === before) value = valueOf(random.next() / 4_294_967_296)
    return (before = value)
  }
  for (let i = 0; i < starts4.length; i++) {
    builder.add4(starts4[i]!, (starts4[i + 1] ?? 2 ** 32) - 1, next())
  }
  const [from, to] = [new Uint32Array(4), new Uint32Array(4)]
  for (let i = 0; i < starts6.length; i += 2) {
    from[0] = starts6[i]!
    from[1] = starts6[i + 1]!
    const behind = (starts6[i + 2] ?? 0x3000_0000) * 2 ** 32 + (starts6[i + 3] ?? 0)
    // Exact: the parts of a /32 are 2^28 apart, far more than the resolution of a double.
    to[0] = Math.floor((behind - 2 ** 28) / 2 ** 32)
    to[1] = ((behind - 2 ** 28) % 2 ** 32) + 0x0fff_ffff
    to[2] = to[3] = 0xffff_ffff
    builder.add6(from, to, next())
  }
  return builder.build()
}
