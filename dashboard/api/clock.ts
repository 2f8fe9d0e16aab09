// Keeps the one clock of the dashboard: the node's, learned from its responses.
import { signal } from '@preact/signals'

/** Difference between this computer's clock and the node's, in milliseconds; 0: small. */
export const clockOffMs = signal(0)

/** Responses have whole seconds, and take time to arrive. */
const nearMs = 30_000

/** For spans of time: this computer's clock may be set, and the node's be learned anew. */
export const monotonicMs = (): number => performance.now()

/** Unix milliseconds. */
export const nowMs = (): number => Date.now() + clockOffMs.value

/** @param date the field of an answer (RFC 9110 section 6.6.1) */
export function learnClock(date: string | null): void {
  const serverMs = Date.parse(date ?? '')
  if (Number.isNaN(serverMs)) return
  const off = serverMs - Date.now()
  // The last value stays: times must not jump by the delay of a response.
  if (Math.abs(off - clockOffMs.value) > nearMs) clockOffMs.value = Math.abs(off) > nearMs ? off : 0
}
