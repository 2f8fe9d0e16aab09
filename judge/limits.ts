// Limits on how changes are judged together, in milliseconds.

export const judgeLimits = {
  /** What requests to the API remove within this time counts together. */
  removalWindowMs: 600_000,
} as const
