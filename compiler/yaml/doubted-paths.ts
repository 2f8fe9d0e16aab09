// Finds the fields on lines with YAML mistakes: their values are guesses, but the rest can be
// judged.
import { isMap, isScalar, isSeq } from 'yaml'
import type { ParsedNode } from 'yaml'
import { LineTable } from '#diagnostics/print/position.ts'
import type { LocalSpan, YamlPath } from '#diagnostics/diagnostic.ts'

/**
 * @param text the original
 * @param toOriginal maps from the text that was read
 * @returns the root path where a mistake is outside of all fields
 */
export function doubtedPaths(
  contents: ParsedNode | null,
  text: string,
  mistakes: readonly LocalSpan[],
  toOriginal: (span: LocalSpan) => LocalSpan,
): readonly YamlPath[] {
  if (mistakes.length === 0) return []
  const lines = new LineTable(text)
  const lineOf = ({ start }: LocalSpan): number => lines.positionOf(start).line
  const open = new Set(mistakes.map(lineOf))
  const doubted = new Set(open)
  const paths: YamlPath[] = []
  const isDoubted = (node: ParsedNode | null): boolean => {
    if (node === null) return false
    const [from, to] = node.range
    const first = lineOf(toOriginal({ start: from, end: from + 1 }))
    const last = isScalar(node)
      ? lineOf(toOriginal({ start: Math.max(from, to - 1), end: to }))
      : first
    let isFound = false
    for (let line = first; line <= last; line++) {
      if (!doubted.has(line)) continue
      open.delete(line)
      isFound = true
    }
    return isFound
  }
  const walk = (node: ParsedNode | null, path: YamlPath): void => {
    if (isScalar(node)) {
      if (isDoubted(node)) paths.push(path)
    } else if (isSeq(node)) {
      for (const [i, item] of node.items.entries()) walk(item, [...path, i])
    } else if (isMap(node)) {
      for (const { key, value } of node.items) {
        // YAML reads `port:443` as one key; the intended field is `port`.
        const [name = ''] = isScalar(key) ? String(key.value).split(':', 1) : []
        const below = [...path, name]
        if (isDoubted(key)) paths.push(below)
        else walk(value, below)
      }
    }
  }
  walk(contents, [])
  return open.size === 0 ? paths : [[]]
}
