// Makes tables of browsers' measurements for benchmarks.
import type { Bundle } from '#bundle/format/bundle.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import type { Clients } from './clients.ts'

/** Networks for each kind of client; filling the table takes longer than measuring it. */
const networksEach = 10_000

/** Measures every member of a pool from the networks of the first of these clients. */
export function measuredNetworks(
  { memberUid, poolMemberStart }: Bundle,
  pool: number,
  members: number,
  kinds: readonly Clients[],
): SharedArrayBuffer {
  const store = new RumStore({ nowMs: () => 0, monotonicMs: () => 0 })
  const first = poolMemberStart[pool]!
  const uids = Array.from({ length: members }, (_, k) => {
    const octets = memberUid.slice((first + k) * 16, (first + k + 1) * 16)
    return new Uint32Array(octets.buffer, octets.byteOffset, 4)
  })
  for (const { octets, bytes } of kinds) {
    for (let i = 0; i < networksEach; i++) {
      const address = octets.subarray(i * bytes, (i + 1) * bytes)
      for (const [k, uid] of uids.entries()) store.record(address, uid, 10 + ((i + k) & 3) * 20)
    }
  }
  return store.buffer
}
