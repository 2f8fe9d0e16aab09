// Finds in the text of a JSON file the line of a value, for messages: JSON.parse tells none.

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+|\s+/gy

/**
 * @param text that JSON.parse takes
 * @param keys of objects, from the outermost; of one that stands twice the last counts
 * @returns from 1; undefined: it is not there
 */
export function lineIn(text: string, keys: readonly string[]): number | undefined {
  const path: string[] = []
  let [line, depth] = [1, 0]
  let found: number | undefined
  let last = ''
  for (const [word] of text.matchAll(token)) {
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

function isSame(path: readonly string[], keys: readonly string[]): boolean {
  return path.length === keys.length && keys.every((key, i) => path[i] === key)
}
