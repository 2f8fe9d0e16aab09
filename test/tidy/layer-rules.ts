// The rules about edges between files: layers, packages, reach, cycles, dead files.
import { posix } from 'node:path'
import type { Layer, PurityRule } from '../layers.ts'
import { importsOf, packageOf } from './imports.ts'
import type { Import } from './imports.ts'
import { folderOf } from './source.ts'
import type { Source } from './source.ts'

const inside = (path: string, part: string): boolean => path === part || path.startsWith(`${part}/`)

/** Edges that the layer table does not have, and edges written in the wrong form. */
export function layerViolations(sources: readonly Source[], layers: readonly Layer[]): string[] {
  const found: string[] = []
  for (const source of sources) {
    const here = folderOf(source.path)
    const layer = layers.find(({ folder }) => folder === here)
    for (const edge of importsOf(source)) {
      const wrongForm = formOf(edge, here)
      if (wrongForm !== undefined) found.push(`${edge.where}: ${wrongForm}`)
      const refused = layer === undefined ? undefined : refusalOf(edge, layer)
      if (refused !== undefined) found.push(`${edge.where}: ${here} may not import ${refused}`)
    }
  }
  return found
}

function formOf({ specifier, target }: Import, here: string): string | undefined {
  if (target === undefined) return undefined
  const there = folderOf(target)
  if (specifier.startsWith('.') && there !== here) {
    return `${specifier} leaves the folder; write #${posix.normalize(target)}`
  }
  if (!/\.[a-z]+$/.test(specifier)) return `${specifier} has no suffix; write ${specifier}.ts`
  return undefined
}

function refusalOf({ specifier, target }: Import, layer: Layer): string | undefined {
  if (target !== undefined) {
    const allowed = [layer.folder, ...layer.mayImport].some((part) => inside(target, part))
    return allowed ? undefined : specifier
  }
  if (specifier.startsWith('node:')) {
    const module = specifier.slice('node:'.length)
    const allowed = layer.node === 'any' || layer.node.includes(module.split('/')[0]!)
    return allowed ? undefined : specifier
  }
  const known = layer.packages === 'any' || layer.packages.includes(packageOf(specifier))
  return known ? undefined : `package ${specifier}`
}

/** Packages that an install brings, or a layer's row names, and nothing of the product imports. */
export function unusedPackages(
  sources: readonly Source[],
  layers: readonly Layer[],
  installed: readonly string[],
): string[] {
  const imported = layers.map(({ folder }) => {
    const edges = sources.filter(({ path }) => folderOf(path) === folder).flatMap(importsOf)
    return new Set(edges.map(({ specifier }) => packageOf(specifier)))
  })
  const unused = installed
    .filter((name) => !imported.some((names) => names.has(name)))
    .map((name) => `package.json: nothing of the product imports ${name}`)
  return layers.reduce((found, { folder, packages }, i) => {
    if (packages === 'any') return found
    const rest = packages.filter((name) => !imported[i]!.has(name))
    return [...found, ...rest.map((name) => `${folder}: its row names ${name} in vain`)]
  }, unused)
}

interface ReachRule {
  readonly from: string
  readonly never: readonly string[]
}

/** Ways, however long, from a folder to one that it must not know; types count. */
export function reachViolations(sources: readonly Source[], rules: readonly ReachRule[]): string[] {
  const edges = edgesOf(sources, () => true)
  return rules.flatMap(({ from, never }) => {
    const ways = waysFrom(sources, from, edges)
    const bad = [...ways].filter(([path]) => never.includes(folderOf(path)))
    return bad.map(([, way]) => `${from} reaches ${folderOf(way.at(-1)!)}: ${way.join(' → ')}`)
  })
}

/** Modules of Node and packages that are loaded, through any number of imports, and may not be. */
export function purityViolations(
  sources: readonly Source[],
  rules: readonly PurityRule[],
): string[] {
  const edges = edgesOf(sources, (edge) => !edge.typeOnly)
  const byPath = new Map(sources.map((source) => [source.path, source]))
  return rules.flatMap(({ from, node, packages }) =>
    [...waysFrom(sources, from, edges)].flatMap(([path, way]) =>
      importsOf(byPath.get(path)!)
        .filter(({ typeOnly, target }) => !typeOnly && target === undefined)
        .filter(({ specifier }) =>
          specifier.startsWith('node:')
            ? !node.includes(specifier.slice('node:'.length))
            : packages?.includes(packageOf(specifier)) === false,
        )
        .map(({ specifier }) => `${from} loads ${specifier}: ${way.join(' → ')}`),
    ),
  )
}

/** One message per group of files that import each other in a circle; types count. */
export function cycleViolations(sources: readonly Source[]): string[] {
  const edges = edgesOf(sources, () => true)
  const done = new Set<string>()
  const open: string[] = []
  const found: string[] = []
  const walk = (path: string): void => {
    if (done.has(path)) return
    const seenAt = open.indexOf(path)
    if (seenAt >= 0) {
      found.push(`cycle: ${[...open.slice(seenAt), path].join(' → ')}`)
      return
    }
    open.push(path)
    for (const next of edges.get(path) ?? []) walk(next)
    open.pop()
    done.add(path)
  }
  for (const { path } of sources) walk(path)
  return found
}

/** Imports of files that are not there. */
export function danglingViolations(
  sources: readonly Source[],
  exists: (path: string) => boolean,
): string[] {
  return sources
    .flatMap((source) => importsOf(source))
    .filter(({ target }) => target !== undefined && !exists(target))
    .map(({ where, specifier }) => `${where}: ${specifier} does not exist`)
}

/** Files of a layer that no layer imports, and helpers of tests and benchmarks that nobody does. */
export function deadFileViolations(
  sources: readonly Source[],
  layers: readonly Layer[],
  entries: readonly string[],
): string[] {
  const isLayer = (path: string): boolean => layers.some(({ folder }) => folder === folderOf(path))
  // A test that starts a program of its own names the file in a string.
  const isStarted = (path: string): boolean => {
    const name = path.split('/').at(-1)!
    const quoted = new RegExp(`['"\`/]${name.replaceAll('.', '\\.')}['"\`]`)
    const names = ({ text }: Source): boolean => text.includes(name) && quoted.test(text)
    return sources.some((source) => source.path !== path && names(source))
  }
  const importers = new Map<string, Set<string>>()
  for (const source of sources) {
    for (const { target } of importsOf(source)) {
      if (target === undefined || target === source.path) continue
      importers.set(target, (importers.get(target) ?? new Set()).add(source.path))
    }
  }
  return sources
    .map(({ path }) => path)
    .filter((path) => folderOf(path) !== '' && !/\.(?:test|bench)\.ts$/.test(path))
    .filter((path) => !entries.includes(path))
    .filter((path) => {
      const by = [...(importers.get(path) ?? [])]
      return isLayer(path) ? !by.some(isLayer) : by.length === 0 && !isStarted(path)
    })
    .map((path) => `${path}: nothing of the product imports it; use it or remove it`)
}

type Edges = ReadonlyMap<string, readonly string[]>

function edgesOf(sources: readonly Source[], keep: (edge: Import) => boolean): Edges {
  const known = new Set(sources.map(({ path }) => path))
  return new Map(
    sources.map((source) => {
      const kept = importsOf(source).filter(keep)
      const targets = kept.flatMap(({ target }) => (target === undefined ? [] : [target]))
      return [source.path, targets.filter((target) => known.has(target))]
    }),
  )
}

/** Every file that a folder or a file reaches, with a shortest way to it. */
function waysFrom(sources: readonly Source[], from: string, edges: Edges): Map<string, string[]> {
  const starts = sources.filter(({ path }) => folderOf(path) === from || path === from)
  const ways = new Map(starts.map(({ path }) => [path, [path]]))
  const queue = [...ways.keys()]
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const next of edges.get(path) ?? []) {
      if (ways.has(next)) continue
      ways.set(next, [...ways.get(path)!, next])
      queue.push(next)
    }
  }
  return ways
}
