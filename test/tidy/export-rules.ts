// The rule that what only its own file uses is not exported.
import ts from 'typescript'
import { importsOf, targetOf } from './imports.ts'
import { at, visitKinds } from './source.ts'
import type { Source } from './source.ts'

/** Exports that no file imports: of a package, of what a setting names, for the type checker. */
export const offered: readonly string[] = [
  'clients/typescript/',
  'test/support/run-directory.ts',
  'test/support/plan-schema.ts',
]

/** @param isOffered files whose exports are used without an import here */
export function idleExports(
  sources: readonly Source[],
  isOffered: (path: string) => boolean,
): string[] {
  const used = new Map<string, ReadonlySet<string>>()
  const usedWhole = new Set<string>()
  for (const source of sources) {
    const { named, whole } = importedBy(source)
    for (const [path, names] of named) used.set(path, (used.get(path) ?? new Set()).union(names))
    for (const path of whole) usedWhole.add(path)
  }
  return sources.flatMap((source) => {
    if (usedWhole.has(source.path) || isOffered(source.path)) return []
    const names = used.get(source.path)
    return exportsOf(source)
      .filter(({ text }) => names?.has(text) !== true)
      .map((name) => `${at(source, name.getStart())}: no other file imports ${name.text}`)
  })
}

interface Imported {
  /** By path: the names that are imported from there. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>
  /** Modules that are imported whole: later, in a worker, or under one name. */
  readonly whole: readonly string[]
}

function importedBy(source: Source): Imported {
  const named = new Map<string, Set<string>>()
  const whole = importsOf(source).flatMap(({ target }) => target ?? [])
  const { ImportDeclaration, ExportDeclaration } = ts.SyntaxKind
  visitKinds(source.ast, [ImportDeclaration, ExportDeclaration], (node) => {
    const isImport = ts.isImportDeclaration(node)
    if (!isImport && !ts.isExportDeclaration(node)) return
    const path = targetOf(source.path, node.moduleSpecifier)
    if (path === undefined) return
    const list = isImport ? node.importClause?.namedBindings : node.exportClause
    if (list !== undefined && !ts.isNamedImports(list) && !ts.isNamedExports(list)) return
    whole.splice(whole.indexOf(path), 1)
    const names = named.get(path) ?? new Set()
    for (const { name, propertyName } of list?.elements ?? []) {
      names.add((propertyName ?? name).text)
    }
    named.set(path, names)
  })
  return { named, whole }
}

function exportsOf({ ast }: Source): ts.Identifier[] {
  const found: ts.Identifier[] = []
  for (const statement of ast.statements) {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
    const isExported = modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    const isDefault = modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
    if (!isExported || isDefault) continue
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) {
        if (ts.isIdentifier(name)) found.push(name)
      }
    } else if (
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement)
    ) {
      if (statement.name !== undefined) found.push(statement.name)
    }
  }
  return found
}
