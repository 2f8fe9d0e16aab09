// The clock that is passed as an argument: the real one, and a hand-moved one for tests.

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
 * Milliseconds since an arbitrary start that is the same for all threads; never goes back. For the
 * answer path: a look makes no object, as `process.hrtime` would.
 */
export function createMachineClock(): () => number {
  const [seconds, nanoseconds] = process.hrtime()
  const offsetMs = seconds * 1_000 + nanoseconds / 1e6 - performance.now()
  return () => performance.now() + offsetMs
}
