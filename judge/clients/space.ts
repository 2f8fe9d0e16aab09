// Defines which addresses clients have, and the weight of an address.
import type { Address, Cut } from './cuts.ts'

/** Properties of an address family that a table of client networks needs. */
export interface FamilySpace<A extends Address> {
  readonly name: 'ipv4' | 'ipv6'
  /** Value 1: clients may be there. */
  readonly clients: Cut<A>
  /** The address after the last one. */
  readonly end: A
  /** True: weights are counts of traffic, not of addresses, and unknown places count, too. */
  readonly isCounted?: boolean
  /** Weight of the clients from `start` to before `end`: addresses, or networks of /48. */
  readonly weightOf: (start: A, end: A) => number
  readonly toWords: (address: A, words: Int32Array) => void
  /** The address at a fraction, 0 to 1, of a range. */
  readonly within: (start: A, end: A, part: number) => A
  /** The first address of the next /24 or /64 after the one of `address`. */
  readonly nextNetwork: (address: A) => A
  /** How many such networks have an address from `start` to before `end`. */
  readonly networksIn: (start: A, end: A) => number
}

function cut<A extends Address>(starts: readonly A[], valueOf: readonly number[]): Cut<A> {
  return { starts, valueOf: Uint32Array.from(valueOf), values: 2, rowOf: [0, 1] }
}

/** All but 0/8, 127/8 (RFC 1122 section 3.2.1.3), multicast and reserved addresses. */
export const ipv4: FamilySpace<number> = {
  name: 'ipv4',
  clients: cut([0, 0x0100_0000, 0x7f00_0000, 0x8000_0000, 0xe000_0000], [0, 1, 0, 1, 0]),
  end: 2 ** 32,
  weightOf: (start, end) => end - start,
  toWords(address, words) {
    words[0] = address | 0
  },
  within: (start, end, part) => Math.min(end - 1, start + Math.floor((end - start) * part)),
  nextNetwork: (address) => (Math.floor(address / 256) + 1) * 256,
  networksIn: (start, end) => Math.floor((end - 1) / 256) - Math.floor(start / 256) + 1,
}

const in48 = 2 ** 80
/** Global unicast (RFC 4291 section 2.5.4) and unique local addresses (RFC 4193). */
export const ipv6: FamilySpace<bigint> = {
  name: 'ipv6',
  clients: cut([0n, 1n << 125n, 2n << 125n, 0xfcn << 120n, 0xfen << 120n], [0, 1, 0, 1, 0]),
  end: 1n << 128n,
  weightOf: (start, end) => Number(end - start) / in48,
  toWords(address, words) {
    for (let i = 0; i < 4; i++)
      words[i] = Number((address >> BigInt(96 - i * 32)) & 0xffff_ffffn) | 0
  },
  within(start, end, part) {
    const offset = (BigInt(Math.floor(part * 2 ** 52)) * (end - start)) >> 52n
    return start + offset
  },
  nextNetwork: (address) => ((address >> 64n) + 1n) << 64n,
  networksIn: (start, end) => Number(((end - 1n) >> 64n) - (start >> 64n)) + 1,
}
