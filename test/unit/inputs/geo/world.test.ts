// A table of the whole world: each address as another reader finds it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Reader } from 'mmdb-lib'
import { describe, expect, test } from 'vitest'
import { formatAddress } from '#dns/address.ts'
import { Random } from '#lib/random.ts'
import { unpackCode } from '#routing/geo/countries.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { lowerGeo } from '#inputs/geo/lower.ts'
import { openMmdb } from '#inputs/geo/mmdb.ts'

const require = createRequire(import.meta.url)
const path =
  require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb')
const bytes = readFileSync(path)
/** The types of the other reader know the fields of MaxMind alone. */
const oracle = new Reader<never>(bytes)
const oracleCountry = (address: string): string => {
  const found = oracle.get(address) as { country_code?: string } | null
  return found?.country_code ?? ''
}
const addresses = 100_000

function load() {
  const database = openMmdb(bytes)
  if (!database.ok) throw new Error(database.error)
  const lowered = lowerGeo(database.value, 'geoip.dbPath')
  if (!lowered.ok) throw new Error(lowered.error)
  return { tables: new GeoTables(lowered.value.buffers), networks: lowered.value.networks }
}

const { tables, networks } = load()
const { ranges, countryCode, continentCode } = tables.country!

function countryOf(octets: Uint8Array): string {
  const view = new DataView(octets.buffer)
  const row =
    octets.length === 4
      ? ranges.value4(ranges.find4(view.getUint32(0)))
      : ranges.value6(
          ranges.find6(view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)),
        )
  return unpackCode(countryCode[row]!)
}

function differences(octetsOf: (random: Random) => Uint8Array): string[] {
  const random = new Random(addresses)
  const wrong: string[] = []
  let known = 0
  for (let i = 0; i < addresses; i++) {
    const octets = octetsOf(random)
    const text = formatAddress(octets)
    const wanted = oracleCountry(text)
    if (wanted !== '') known++
    if (countryOf(octets) !== wanted) wrong.push(`${text}: ${countryOf(octets)}, not ${wanted}`)
  }
  // Addresses that nobody knows would prove nothing.
  expect(known).toBeGreaterThan(addresses / 2)
  return wrong
}

const octets = (words: readonly number[]): Uint8Array => {
  const view = new DataView(new ArrayBuffer(words.length * 4))
  for (const [i, word] of words.entries()) view.setUint32(i * 4, word)
  return new Uint8Array(view.buffer)
}

describe('the table of the world', () => {
  test('gives random IPv4 addresses the country that another reader finds', () => {
    expect(differences((random) => octets([random.next()]))).toEqual([])
  })

  test('gives addresses around the borders of IPv4 ranges the right country', () => {
    const near = (random: Random): Uint8Array => {
      const start = ranges.start4(random.below(ranges.count4))
      return octets([(start + random.below(3) - 1) >>> 0])
    }
    expect(differences(near)).toEqual([])
  })

  test('gives IPv6 addresses in and around known networks the right country', () => {
    const near = (random: Random): Uint8Array => {
      // Below row 1 lies ::/96, which is IPv4 and looked up as such.
      const row = 1 + random.below(ranges.count6 - 1)
      const words = [0, 1, 2, 3].map((word) => ranges.start6(row, word))
      if (random.below(2) === 0) words[3] = random.next()
      else words[1] = (words[1]! + random.below(3) - 1) >>> 0
      return octets(words)
    }
    expect(differences(near)).toEqual([])
  })

  test('knows the continent of every country in it', () => {
    const rows = new Set<number>()
    for (let row = 0; row < ranges.count4; row++) rows.add(ranges.value4(row))
    for (let row = 0; row < ranges.count6; row++) rows.add(ranges.value6(row))
    const homeless = [...rows]
      .filter((row) => row !== 0 && continentCode[row] === 0)
      .map((row) => unpackCode(countryCode[row]!))
    expect(homeless).toEqual([])
    expect(rows.size).toBeGreaterThan(200)
  })

  test('has fewer ranges than networks', () => {
    expect(ranges.count4 + ranges.count6).toBeLessThan(networks)
  })
})
