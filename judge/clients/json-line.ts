// Finds the line of a value in the text of a JSON file, for messages: JSON.parse reports no line.

/** Tokens of one character. */
const marks = '{}[],:'
const spaces = ' \n\r\t'

/**
 * @param text valid JSON
 *
 * @param keys from the outermost object; of a repeated key the last counts
 * @returns from 1; undefined: it is absent
 */
export function lineIn(text: string, keys: readonly string[]): number | undefined {
  const path: string[] = []
  let [line, depth] = [1, 0]
  let found: number | undefined
  let last = ''
  for (const word of tokensOf(text)) {
    if (word === '{' || word === '[') depth++
    else if (word === '}' || word === ']') depth--
    else if (word === ':') {
      path.length = depth - 1
      path.push(JSON.parse(last) as string)
      if (isSame(path, keys)) found = line
    } else if (word.includes('\n')) line += word.split('\n').length - 1
    if (word.trim() !== '') last = word
  }
  return found
}

function* tokensOf(text: string): Generator<string> {
  let end = 0
  for (let at = 0; at < text.length; at = end) {
    end = text[at] === '"' ? endOfString(text, at + 1) : endOfOther(text, at)
    yield text.slice(at, end)
  }
}

/** @param at after the opening quotation mark */
function endOfString(text: string, at: number): number {
  for (let i = at; i < text.length; i++) {
    const char = text[i]
    if (char === '"') return i + 1
    if (char === '\\') i++
  }
  return text.length
}

/** Steps over characters: a regular expression keeps a stack that may not suffice for 20 MB. */
function endOfOther(text: string, at: number): number {
  const first = text[at]!
  if (marks.includes(first)) return at + 1
  const isSpace = spaces.includes(first)
  let end = at + 1
  for (; end < text.length; end++) {
    const char = text[end]!
    if (char === '"' || marks.includes(char) || spaces.includes(char) !== isSpace) break
  }
  return end
}

function isSame(path: readonly string[], keys: readonly string[]): boolean {
  return path.length === keys.length && keys.every((key, i) => path[i] === key)
}
