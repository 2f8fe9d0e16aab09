// The history as it is read: newer commits come before those that are shown, and no gap opens.

interface Kept {
  readonly commit: string
}

/**
 * @param newest the first page, as it is now
 * @param shown what was read before, newest first
 */
export function joined<T extends Kept>(newest: readonly T[], shown: readonly T[]): readonly T[] {
  const known = new Set(newest.map(({ commit }) => commit))
  const meets = shown.some(({ commit }) => known.has(commit))
  // More commits than a page holds came at once: what is between them is not known.
  if (!meets) return newest
  return [...newest, ...shown.filter(({ commit }) => !known.has(commit))]
}
