// The table of real-user measurements on the answer path: milliseconds by client network and
// member.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Chain } from '#routing/chain/chain.ts'

/** Prefix lengths of the networks by which measurements are stored. */
export const rumNetworkBits = { v4: 24, v6: 48 } as const

export const RumHeader = {
  Words: 16,
  /** Odd while the writer is writing. */
  Version: 0,
  /** Entries in the table. */
  Count: 1,
} as const

/**
 * An entry: its whole key and a latency, so that no other network or member can be mistaken for it.
 * `NetworkLow` also holds the kind; 0 is a free slot.
 */
export const RumCell = {
  Words: 8,
  NetworkHigh: 0,
  NetworkLow: 1,
  /** Four words: the octets of the member's uid as they stand in a bundle. */
  Uid: 2,
  /** A float. An entry of `AnyNetwork` counts the networks that have measured the member. */
  Value: 6,
} as const

/** Bits of `NetworkLow`, above the 16 of an IPv6 network. */
export const RumKind = { V4: 0x1_0000, V6: 0x2_0000, AnyNetwork: 0x4_0000 } as const

/** Twice the slots that may be taken, so that probes are short. A power of two. */
export const rumSlots = 524_288
export const rumTableBytes = (RumHeader.Words + rumSlots * RumCell.Words) * 4

export const RumResult = {
  /** No candidate was measured from this network. */
  NotHere: -1,
  /** No candidate was measured from any network: the client's network does not matter. */
  Nowhere: -2,
} as const

/** Reads attempted while the writer is writing; then the measurements are ignored. */
const readsMax = 4

/** First slot to probe for an entry. */
export function rumSlotOf(
  networkHigh: number,
  networkLow: number,
  uid: Uint32Array,
  uidAt: number,
): number {
  let h = Math.imul(networkHigh ^ 0x9e3779b9, 0x85ebca6b)
  h = Math.imul((h ^ (h >>> 15)) + networkLow, 0xc2b2ae35)
  for (let i = 0; i < 4; i++) h = Math.imul((h ^ (h >>> 13)) + uid[uidAt + i]!, 0x27d4eb2f)
  return (h ^ (h >>> 16)) & (rumSlots - 1)
}

/** One per thread and bundle. Reads without waiting; the writer is `inputs/rum/rum-store.ts`. */
export class RumTable {
  readonly #cells: Int32Array
  readonly #words: Uint32Array
  readonly #values: Float32Array
  readonly #uids: Uint32Array

  constructor(shared: SharedArrayBuffer, { memberUid }: Bundle) {
    this.#cells = new Int32Array(shared, 0, RumHeader.Words)
    this.#words = new Uint32Array(shared)
    this.#values = new Float32Array(shared)
    // Sections of a bundle are aligned, and a uid has 16 octets.
    this.#uids = new Uint32Array(memberUid.buffer, memberUid.byteOffset, memberUid.length >> 2)
  }

  /** @returns the position of the candidate with the lowest latency, or one of RumResult */
  fastest(chain: Chain): number {
    const cells = this.#cells
    for (let reads = 0; reads < readsMax; reads++) {
      const version = Atomics.load(cells, RumHeader.Version)
      if ((version & 1) !== 0) continue
      const found = cells[RumHeader.Count] === 0 ? RumResult.Nowhere : this.#search(chain)
      if (Atomics.load(cells, RumHeader.Version) === version) return found
    }
    return RumResult.NotHere
  }

  #search({ client, members, count }: Chain): number {
    const { words, isIpv6 } = client
    const high = isIpv6 ? words[0]! : words[0]! >>> (32 - rumNetworkBits.v4)
    const low = isIpv6 ? RumKind.V6 | (words[1]! >>> 16) : RumKind.V4
    let best: number = RumResult.Nowhere
    let bestMs = Infinity
    for (let i = 0; i < count; i++) {
      const member = members[i]!
      if (this.#find(0, RumKind.AnyNetwork, member) < 0) continue
      if (best === RumResult.Nowhere) best = RumResult.NotHere
      const at = this.#find(high, low, member)
      if (at < 0 || this.#values[at + RumCell.Value]! >= bestMs) continue
      best = i
      bestMs = this.#values[at + RumCell.Value]!
    }
    return best
  }

  /** @returns the first word of the entry, or -1 */
  #find(high: number, low: number, member: number): number {
    const words = this.#words
    const uids = this.#uids
    const uidAt = member * 4
    let slot = rumSlotOf(high, low, uids, uidAt)
    // Bounded even while the writer changes the table.
    for (let walked = 0; walked < rumSlots; walked++) {
      const at = RumHeader.Words + slot * RumCell.Words
      const found = words[at + RumCell.NetworkLow]!
      if (found === 0) return -1
      if (found === low && words[at + RumCell.NetworkHigh] === high) {
        let i = 0
        while (i < 4 && words[at + RumCell.Uid + i] === uids[uidAt + i]) i++
        if (i === 4) return at
      }
      slot = (slot + 1) & (rumSlots - 1)
    }
    return -1
  }
}
