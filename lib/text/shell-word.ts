// Quotes a word for a shell, for commands in messages that people copy.

/** A text as one word of a shell command, to be copied from a message. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
