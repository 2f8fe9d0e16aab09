// Networks of clients that are not limited, as sorted ranges of addresses.
import type { ExemptRanges } from './exempt-ranges.ts'

/** Words of an IPv6 address. */
const ipv6Words = 4

export class ExemptNetworks {
  readonly isEmpty: boolean
  readonly #ipv4: Uint32Array
  readonly #ipv6: Uint32Array

  constructor({ ipv4, ipv6 }: ExemptRanges) {
    this.#ipv4 = ipv4
    this.#ipv6 = ipv6
    this.isEmpty = ipv4.length + ipv6.length === 0
  }

  /** @param address one word of IPv4 or four of IPv6, the most significant first */
  has(address: Uint32Array, isIpv6: boolean): boolean {
    const ranges = isIpv6 ? this.#ipv6 : this.#ipv4
    const width = isIpv6 ? ipv6Words : 1
    let low = 0
    let high = ranges.length / (width * 2)
    // Behind the last range that does not begin behind the address.
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(ranges, middle * 2 * width, address, width) <= 0) low = middle + 1
      else high = middle
    }
    return low > 0 && compare(ranges, (low * 2 - 1) * width, address, width) >= 0
  }
}

/** Below 0: the address in `ranges` comes before the other. */
function compare(ranges: Uint32Array, at: number, address: Uint32Array, width: number): number {
  for (let i = 0; i < width; i++) {
    const one = ranges[at + i]!
    const other = address[i]!
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}
