// How much the tests of one commit may ask.

export const policyTestLimits = {
  /** In all files together. */
  casesMax: 2_000,
  /** Answers that are drawn for shares, in all cases together: a second or two. */
  samplesMax: 1_000_000,
  /** Answers that are drawn where members are expected, and no shares. */
  drawsPerCase: 100,
  /** Unknown members of a run that are told with who may be meant. */
  suggestionsMax: 20,
  /** Names that are looked at for each of them. */
  suggestedAmongMax: 2_000,
} as const
