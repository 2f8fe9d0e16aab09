// JIT warm-up: a thread adopts its first bundle repeatedly before the first query, so that V8 has
// compiled the swap code before it runs beside queries.
import { systemClock } from '#lib/clock.ts'

/** V8 compiles in steps, the first after eight runs; a hundred leave swaps little to compile. */
const runs = 100
/** A bundle of thousands of policies must not keep a node from starting. */
const patienceMs = 50

/** @param takeOver may be called any number of times */
export function warmUpJit(takeOver: () => void, monotonicMs = systemClock.monotonicMs): void {
  const untilMs = monotonicMs() + patienceMs
  for (let run = 0; run < runs && monotonicMs() < untilMs; run++) takeOver()
}
