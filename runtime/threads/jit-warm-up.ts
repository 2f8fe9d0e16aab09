// A thread's first bundle, taken over again and again before the first query: V8 compiles code when
// it has run a few times, and its compilers want the cores that answer. What later swaps run is
// compiled then already.
import { systemClock } from '#lib/clock.ts'

/** V8 compiles in steps, the first after eight runs; a hundred leave swaps little to compile. */
const runs = 100
/** A bundle of thousands of policies must not keep a node from starting. */
const patienceMs = 50

/** @param takeOver may be called any number of times */
export function rehearse(takeOver: () => void, monotonicMs = systemClock.monotonicMs): void {
  const untilMs = monotonicMs() + patienceMs
  for (let run = 0; run < runs && monotonicMs() < untilMs; run++) takeOver()
}
