// Time as an argument: the real clock for the product, a hand-moved one for tests.

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
