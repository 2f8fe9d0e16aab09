// Limits of time within which changes are judged together.

export const judgeLimits = {
  /** Removals by requests to the API within this time count together. */
  removalWindowMs: 600_000,
} as const
