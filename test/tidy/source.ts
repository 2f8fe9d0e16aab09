// The TypeScript files of this repository, parsed once.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string
  readonly text: string
  readonly ast: ts.SourceFile
}

/** The first folder of a path; empty for a file at the root. */
export const folderOf = (path: string): string => (path.includes('/') ? path.split('/')[0]! : '')
export const isTest = (path: string): boolean => path.startsWith('test/')

export function parseSource(path: string, text: string): Source {
  const ast = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  return { path, text, ast }
}

/** `path:line`, as an editor opens it. */
export function at(source: Source, position: number): string {
  return `${source.path}:${source.ast.getLineAndCharacterOfPosition(position).line + 1}`
}

const kindsOf = new WeakMap<ts.Node, ReadonlyMap<ts.SyntaxKind, readonly ts.Node[]>>()

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  for (const one of collect(node, [])) see(one)
}

/** Visits nodes of these kinds in the order of the text. A file is walked once for all rules. */
export function visitKinds(
  file: ts.SourceFile,
  kinds: readonly ts.SyntaxKind[],
  see: (node: ts.Node) => void,
): void {
  const byKind = kindsOf.get(file) ?? Map.groupBy(collect(file, []), ({ kind }) => kind)
  kindsOf.set(file, byKind)
  const nodes = kinds.flatMap((kind) => byKind.get(kind) ?? [])
  if (kinds.length > 1) nodes.sort((a, b) => a.pos - b.pos || b.end - a.end)
  for (const node of nodes) see(node)
}

function collect(node: ts.Node, found: ts.Node[]): ts.Node[] {
  found.push(node)
  node.forEachChild((child) => void collect(child, found))
  return found
}

const notOurs = new Set(['.git', 'dist', 'data'])

/** Every file that belongs to the repository, sorted; links are not followed. */
export function listFiles(root: string, folder = ''): string[] {
  const found: string[] = []
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue
    if (folder === '' && notOurs.has(entry.name)) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) found.push(...listFiles(root, path))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}

/** Declarations are written by a program, and judged as it is. */
export function readSources(root: string): Source[] {
  const paths = listFiles(root).filter((path) => /(?<!\.d)\.tsx?$/.test(path))
  return paths.map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')))
}
