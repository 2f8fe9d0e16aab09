// Joins clauses, some of them whole sentences, into one sentence.

/** Formats `a; b`, without full stops before semicolons. Empty texts are left out. */
export function joinedClauses(...texts: readonly string[]): string {
  const said = texts.filter((text) => text !== '')
  return said
    .map((text, i) => (i === said.length - 1 ? text : text.replace(/[.]+$/, '')))
    .join('; ')
}
