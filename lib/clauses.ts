// Joins clauses into one sentence; some of them come as whole sentences.

/** `a; b`: what goes before a semicolon has no full stop. Empty texts are left out. */
export function joinedClauses(...texts: readonly string[]): string {
  const said = texts.filter((text) => text !== '')
  return said
    .map((text, i) => (i === said.length - 1 ? text : text.replace(/[.]+$/, '')))
    .join('; ')
}
