// Bounds of the metrics: how many series a node may have.

export const metricLimits = {
  /** Pools with series of their own, three each; the members of all others are added up. */
  poolsMax: 1_000,
} as const
