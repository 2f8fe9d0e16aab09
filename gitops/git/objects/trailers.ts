// Finds the trailers of a commit message: exactly those that `git log --format=%(trailers)` prints
// where nobody has set `trailer.*` or `core.commentChar`. git itself would read the settings of
// whoever runs it, so that two nodes could disagree, and costs a process for each commit.

const cutLine = '# ------------------------ >8 ------------------------\n'
/** With one of these lines a paragraph is a block of trailers, even if 3 of 4 lines are none. */
const madeByGit = ['Signed-off-by: ', '(cherry picked from commit ']
/** White space and letters are those of ASCII, as in git. */
const blankLine = /^[ \t\r]*$/
const trailerLine = /^[A-Za-z0-9-]+[ \t]*:/

/**
 * Finds the values of one key, in any case, with folded lines joined.
 *
 * @param message what follows the headers of the commit
 * @param encoding of the message; '': UTF-8
 */
export function trailerValues(message: Uint8Array, key: string, encoding = ''): readonly string[] {
  // Each octet becomes a character, so that no other encoding can split or join lines.
  const text = octetsOf(message, encoding).split('\0', 1)[0] ?? ''
  // Nearly all messages end here: no commit of a history needs more than this look.
  if (!text.toLowerCase().includes(key.toLowerCase())) return []
  const lines = linesOf(text)
  while (lines[0] !== undefined && isBlank(lines[0])) lines.shift()
  const end = endOfText(lines)
  const values: string[] = []
  for (const trailer of unwrapped(lines.slice(startOfTrailers(lines.slice(0, end)), end))) {
    const separator = trailer.indexOf(':')
    if (trimmed(trailer.slice(0, separator)).toLowerCase() !== key.toLowerCase()) continue
    const value = trimmed(trailer.slice(separator + 1)).replace(/\n[ \t\r\n]*/g, ' ')
    values.push(Buffer.from(trimmed(value), 'latin1').toString('utf8'))
  }
  return values
}

/** The text in UTF-8, as git shows it. A message in an unknown encoding has no trailers. */
function octetsOf(message: Uint8Array, encoding: string): string {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  if (encoding === '' || /^utf-?8$/i.test(encoding)) return bytes.toString('latin1')
  try {
    return Buffer.from(new TextDecoder(encoding).decode(bytes)).toString('latin1')
  } catch {
    return ''
  }
}

/** Lines, each with its line feed. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

const isBlank = (line: string): boolean => blankLine.test(line.replace(/\n$/, ''))
const isComment = (line: string): boolean => line.startsWith('#')
const isSpace = (text: string, at: number): boolean => ' \t\r\n'.includes(text.charAt(at))

/** Written as a loop: a regular expression for white space at the end takes quadratic time. */
function trimmed(text: string): string {
  let end = text.length
  while (end > 0 && isSpace(text, end - 1)) end--
  let start = 0
  while (start < end && isSpace(text, start)) start++
  return text.slice(start, end)
}

/**
 * Finds the end of the text, before what an editor's commit message ends with: comments, empty
 * lines, a list of conflicts, and all below a cut line.
 */
function endOfText(lines: readonly string[]): number {
  const cut = lines.indexOf(cutLine)
  const end = cut === -1 ? lines.length : cut
  let ignoredFrom: number | undefined
  let isInConflicts = false
  for (let i = 0; i < end; i++) {
    const line = lines[i]!
    if (isComment(line) || line === '\n') ignoredFrom ||= i
    else if (line === 'Conflicts:\n') {
      isInConflicts = true
      ignoredFrom ||= i
    } else if (isInConflicts && line.startsWith('\t')) continue
    else if (ignoredFrom) {
      ignoredFrom = undefined
      isInConflicts = false
    }
  }
  return ignoredFrom || end
}

/** @returns the first line of the last paragraph if that has trailers; else the end */
function startOfTrailers(lines: readonly string[]): number {
  const titleEnd = lines.findIndex((line) => !isComment(line) && isBlank(line))
  let isOfGit = false
  let trailers = 0
  let others = 0
  // Lines that may continue a trailer above them.
  let folded = 0
  let isInParagraph = false
  for (let i = lines.length - 1; i >= (titleEnd === -1 ? lines.length : titleEnd); i--) {
    const line = lines[i]!
    if (isComment(line)) {
      others += folded
      folded = 0
    } else if (isBlank(line)) {
      if (!isInParagraph) continue
      others += folded
      const areTrailers = isOfGit ? trailers * 3 >= others : trailers > 0 && others === 0
      return areTrailers ? i + 1 : lines.length
    } else {
      isInParagraph = true
      const isMadeByGit = madeByGit.some((prefix) => line.startsWith(prefix))
      isOfGit ||= isMadeByGit
      if (/^[ \t\r]/.test(line)) folded++
      else {
        const isTrailer = isMadeByGit || trailerLine.test(line)
        if (isTrailer) trailers++
        else others += 1 + folded
        folded = 0
      }
    }
  }
  return lines.length
}

/** Joins each trailer with its continuation lines. */
function unwrapped(lines: readonly string[]): readonly string[] {
  const found: string[] = []
  let isTrailer = false
  for (const line of lines) {
    if (isTrailer && /^[ \t\r\n]/.test(line)) found[found.length - 1] += line
    else {
      isTrailer = trailerLine.test(line)
      if (isTrailer) found.push(line)
    }
  }
  return found
}
