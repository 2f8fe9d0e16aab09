// How long the system lets a thread run before another has its turn.
import type { Libc } from './libc.ts'

/**
 * Shorter than what Linux gives by itself, 0.7 ms on one core and more on several. From Linux 6.12
 * on a thread that wakes up goes before one with longer turns, instead of waiting for the end of
 * that one's: a compilation, say. It gets no more of the core than its share.
 */
export const turnMicros = 500

/** struct sched_attr in its first version: sched_setattr(2). */
const Attr = { Bytes: 48, Policy: 4, RuntimeNs: 24 } as const
const policyOther = 0

/**
 * Asks for short turns for the calling thread. Needs no privilege; older systems take no notice.
 *
 * @returns false: they are not to be had, or an operator has chosen another policy, which stays
 */
export function askForShortTurns(libc: Libc): boolean {
  const attr = new DataView(new ArrayBuffer(Attr.Bytes))
  const octets = new Uint8Array(attr.buffer)
  if (libc.threadAttributes(octets) !== 0) return false
  if (attr.getUint32(Attr.Policy, true) !== policyOther) return false
  attr.setBigUint64(Attr.RuntimeNs, BigInt(turnMicros * 1_000), true)
  return libc.setThreadAttributes(octets) === 0
}
