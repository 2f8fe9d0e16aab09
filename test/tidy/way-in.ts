// Follows imports from file to file: which files lie on the way from the start to the answer.
import { importsOf } from './imports.ts'
import type { Source } from './source.ts'

/**
 * The shortest way by what is loaded at run time: imports, dynamic ones, files of workers.
 *
 * @param stops files that lie on it, first to last
 * @returns all files on it; none where a stop cannot be reached from the one before
 */
export function wayThrough(sources: readonly Source[], stops: readonly string[]): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const nextOf = (path: string): string[] => {
    const source = byPath.get(path)
    const imports = source === undefined ? [] : importsOf(source)
    return imports.flatMap(({ typeOnly, target }) =>
      typeOnly || target === undefined ? [] : [target],
    )
  }
  const way = stops.slice(0, 1)
  for (const to of stops.slice(1)) {
    const leg = shortest(way.at(-1)!, to, nextOf)
    if (leg.length === 0) return []
    way.push(...leg.slice(1))
  }
  return way
}

function shortest(from: string, to: string, nextOf: (path: string) => string[]): string[] {
  const before = new Map<string, string | undefined>([[from, undefined]])
  for (const path of before.keys()) {
    if (path === to) break
    for (const next of nextOf(path)) if (!before.has(next)) before.set(next, path)
  }
  const way: string[] = []
  if (!before.has(to)) return way
  for (let path: string | undefined = to; path !== undefined; path = before.get(path)) {
    way.unshift(path)
  }
  return way
}
