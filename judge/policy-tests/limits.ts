// Limits on the policy tests of one commit.

export const policyTestLimits = {
  /** Cases in all files together. */
  casesMax: 2_000,
  /** Answers drawn for shares, in all cases together: a second or two. */
  samplesMax: 1_000_000,
  /** Answers drawn for a case that expects members and no shares. */
  drawsPerCase: 100,
  /** Unknown members of a run for which a suggestion is made. */
  suggestionsMax: 20,
  /** Names that are compared for each suggestion. */
  suggestedAmongMax: 2_000,
} as const
