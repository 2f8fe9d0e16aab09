// Defines the clock that is passed as an argument: a real one, and one that tests move by hand.

export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  readonly nowMs: () => number
  /** Milliseconds since an arbitrary start; never goes back. Use it for durations. */
  readonly monotonicMs: () => number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/**
 * Milliseconds since an arbitrary start that all threads share; never decreases. For the answer
 * path: unlike `process.hrtime` it allocates nothing.
 */
export function createMachineClock(): () => number {
  const [seconds, nanoseconds] = process.hrtime()
  const offsetMs = seconds * 1_000 + nanoseconds / 1e6 - performance.now()
  return () => performance.now() + offsetMs
}
