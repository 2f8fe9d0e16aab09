// Finds a client of a country: the largest network of the country in the geo database.
import type { NoClient } from '#ports/simulator.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { packCode } from '#routing/geo/countries.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import type { CountryBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { formatAddress } from '#dns/address.ts'

/** By country number: where its largest range begins. Freed together with its database. */
const known = new WeakMap<SharedArrayBuffer, ReadonlyMap<number, number>>()

/**
 * @param country two letters
 *
 * @returns a network such as `192.0.2.0/24`
 */
export function clientOfCountry(
  { country: buffers }: GeoBuffers,
  country: string,
): Result<string, NoClient> {
  if (buffers === null) return err('no-database')
  let starts = known.get(buffers.ranges)
  if (starts === undefined) known.set(buffers.ranges, (starts = largestRanges(buffers)))
  const start = starts.get(packCode(country))
  if (start === undefined) return err('none')
  const octets = Uint8Array.of(start >>> 24, (start >>> 16) & 0xff, (start >>> 8) & 0xff, 0)
  return ok(`${formatAddress(octets)}/24`)
}

/** Considers ranges that contain a whole /24, which is what resolvers send of their clients. */
function largestRanges(buffers: CountryBuffers): ReadonlyMap<number, number> {
  const { ranges, countryCode } = new CountryTable(buffers)
  const sizes = new Map<number, number>()
  const starts = new Map<number, number>()
  for (let row = 0; row < ranges.count4; row++) {
    const code = countryCode[ranges.value4(row)]!
    if (code === 0) continue
    const start = Math.ceil(ranges.start4(row) / 256) * 256
    const end = row + 1 < ranges.count4 ? ranges.start4(row + 1) : 2 ** 32
    const size = end - start
    if (size < 256 || size <= (sizes.get(code) ?? 0)) continue
    sizes.set(code, size)
    starts.set(code, start)
  }
  return starts
}
