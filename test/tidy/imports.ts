// Reads the imports of a file: static, dynamic, re-exports, `require` and worker files.
import { posix } from 'node:path'
import ts from 'typescript'
import { at, visit, visitKinds } from './source.ts'
import type { Source } from './source.ts'

export interface Import {
  readonly specifier: string
  /** `path:line` of the import. */
  readonly where: string
  /** Gone at run time: `import type`, `export type`. */
  readonly typeOnly: boolean
  /** The file it names, from the root, when it is one of ours; else undefined. */
  readonly target: string | undefined
}

const read = new WeakMap<Source, readonly Import[]>()

/** Each file is read once: six rules ask for its imports. */
export function importsOf(source: Source): readonly Import[] {
  const known = read.get(source) ?? readImports(source)
  read.set(source, known)
  return known
}

const loaders = [
  ts.SyntaxKind.ImportDeclaration,
  ts.SyntaxKind.ExportDeclaration,
  ts.SyntaxKind.ImportType,
  ts.SyntaxKind.CallExpression,
  ts.SyntaxKind.NewExpression,
]

function readImports(source: Source): Import[] {
  const found: Import[] = []
  const add = (literal: ts.Node | undefined, typeOnly: boolean): void => {
    if (literal === undefined || !ts.isStringLiteralLike(literal)) return
    const specifier = literal.text
    const target = targetOf(source.path, literal)
    found.push({ specifier, where: at(source, literal.getStart()), typeOnly, target })
  }
  visitKinds(source.ast, loaders, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true)
    } else if (ts.isCallExpression(node) && loadsModule(node)) add(node.arguments[0], false)
    else if (ts.isNewExpression(node) && isUrlOfThisModule(node)) {
      // A worker's file: `new Worker(new URL('./worker.ts', import.meta.url))`.
      visit(node, (part) => {
        if (ts.isStringLiteralLike(part) && part.text.endsWith('.ts')) add(part, false)
      })
    }
  })
  return found
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

function loadsModule(call: ts.CallExpression): boolean {
  const callee = call.expression
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true
  if (ts.isIdentifier(callee)) return callee.text === 'require'
  if (!ts.isPropertyAccessExpression(callee) || callee.name.text !== 'resolve') return false
  return callee.getText() === 'import.meta.resolve'
}

function isUrlOfThisModule(node: ts.NewExpression): boolean {
  return node.expression.getText() === 'URL' && /import\.meta/.test(node.getText())
}

/** The file that a specifier names, from the root; undefined: none of ours. */
export function targetOf(from: string, specifier: ts.Node | undefined): string | undefined {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined
  const { text } = specifier
  if (text.startsWith('#')) return text.slice(1)
  return /^\.\.?\//.test(text) ? posix.join(posix.dirname(from), text) : undefined
}

/** `@scope/name/part` is package `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
