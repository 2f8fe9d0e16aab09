// Lists the first few of many texts in a sentence.

/** Formats `a, b and 3 more`. */
export function firstOf(texts: readonly string[], most: number): string {
  const more = texts.length - most
  return texts.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** As `firstOf`; `none` where there are no texts. */
export const firstOrNone = (texts: readonly string[], most: number): string =>
  texts.length === 0 ? 'none' : firstOf(texts, most)
