// The one clock of the dashboard: the node's, as its answers tell it.
import { signal } from '@preact/signals'

/** How far this computer is from the node, in milliseconds; 0: near enough. */
export const clockOffMs = signal(0)

/** Answers say whole seconds, and are on their way for a while. */
const nearMs = 30_000

/** Unix milliseconds. */
export const nowMs = (): number => Date.now() + clockOffMs.value

/** @param date the field of an answer (RFC 9110 section 6.6.1) */
export function learnClock(date: string | null): void {
  const told = Date.parse(date ?? '')
  if (Number.isNaN(told)) return
  const off = told - Date.now()
  // What was learned stays: times must not jump by what answers take.
  if (Math.abs(off - clockOffMs.value) > nearMs) clockOffMs.value = Math.abs(off) > nearMs ? off : 0
}
