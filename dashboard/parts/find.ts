// Finds rows by words.

/** Whether each word is somewhere in the texts. */
export const matchesQuery = (query: string, texts: readonly string[]): boolean =>
  finderOf(query)(searchedOf(texts))

/** Returns the text that `finderOf` searches; made once for a row, not for each letter typed. */
export const searchedOf = (texts: readonly string[]): string => texts.join(' ').toLowerCase()

export function finderOf(query: string): (searched: string) => boolean {
  const words = query.toLowerCase().split(/\s+/)
  return (searched) => words.every((word) => searched.includes(word))
}
