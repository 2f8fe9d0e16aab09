// Formats sentences for a header field: their number, then the first ones (RFC 8941 section 3.1).

/** More would not fit into the limits of clients and proxies. */
const sentencesMax = 3
const charactersMax = 200

interface Sentence {
  readonly text: string
  /** A parameter, such as the code of a diagnostic. */
  readonly code?: string
}

/** @returns a list of structured fields, such as `2, "some sentence";code=x, "another"` */
export function sentenceList(sentences: readonly Sentence[]): string {
  const shown = sentences.slice(0, sentencesMax).map(({ text, code }) => {
    return `"${plain(text)}"${code === undefined ? '' : `;code=${code}`}`
  })
  return [String(sentences.length), ...shown].join(', ')
}

/** Converts to a string of RFC 8941 section 3.3.3: printable ASCII, two characters escaped. */
function plain(text: string): string {
  // The only character of our own sentences that is not ASCII.
  const characters = [...text.replaceAll('→', '->')]
  const isLong = characters.length > charactersMax
  const first = isLong ? [...characters.slice(0, charactersMax - 3), '...'] : characters
  return first
    .join('')
    .replaceAll(/[^\x20-\x7e]/gu, '?')
    .replaceAll(/["\\]/g, '\\$&')
}
