// The rules about the form of a file: length, functions, columns, name, opening sentence.
import ts from 'typescript'
import { at, folderOf, isTest, visitKinds } from './source.ts'
import type { Source } from './source.ts'

interface Sizes {
  readonly fileLinesMax: number
  readonly functionLinesMax: number
  readonly columnsMax: number
}

export function sizeViolations(source: Source, sizes: Sizes): string[] {
  const found: string[] = []
  const lines = source.text.replace(/\n$/, '').split('\n')
  if (lines.length > sizes.fileLinesMax) {
    found.push(`${source.path}: ${lines.length} lines, at most ${sizes.fileLinesMax}; split it`)
  }
  for (const [index, line] of lines.entries()) {
    if (line.length <= sizes.columnsMax || [...line].length <= sizes.columnsMax) continue
    // A link cannot be broken.
    if (/https?:\/\/\S{40}/.test(line)) continue
    // A sentence for people is searched for as a whole: it is not cut in two.
    if (/^\s*(?:return )?(['"`]).*\1[,)]*$/.test(line)) continue
    found.push(`${source.path}:${index + 1}: over ${sizes.columnsMax} columns`)
  }
  visitKinds(source.ast, functionKinds, (node) => {
    if (!isFunction(node)) return
    const length = lineOf(source, node.getEnd()) - lineOf(source, node.getStart()) + 1
    if (length <= sizes.functionLinesMax || isSuite(node)) return
    const limit = sizes.functionLinesMax
    found.push(`${at(source, node.getStart())}: function of ${length} lines, at most ${limit}`)
  })
  return found
}

const lineOf = (source: Source, position: number): number =>
  source.ast.getLineAndCharacterOfPosition(position).line

const functionKinds = [
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.FunctionExpression,
  ts.SyntaxKind.ArrowFunction,
  ts.SyntaxKind.MethodDeclaration,
  ts.SyntaxKind.Constructor,
  ts.SyntaxKind.GetAccessor,
  ts.SyntaxKind.SetAccessor,
]

const functions: ReadonlySet<ts.SyntaxKind> = new Set(functionKinds)

export const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  functions.has(node.kind)

/** The callback of `describe` is a list of tests, not a function to hold in the head. */
function isSuite(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText())
}

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/
const saysNothing = /^(?:utils?|helpers?|common|misc|index|shared|types|functions)\b|[-.]utils?\./

/** Rules for the name of any file below a folder of code. */
export function nameViolations(path: string): string[] {
  const name = path.split('/').at(-1)!
  const found: string[] = []
  if (!kebab.test(name)) found.push(`${path}: file names are kebab-case`)
  if (saysNothing.test(name)) found.push(`${path}: the name says nothing; name what it knows`)
  return found
}

/** Families of names that say that something was said, and not what it is. */
const riddles = /^told(?![a-z])|Told$|^Told$|[a-z]Then$|Sides$|^brought|Words$|^wordsOf/
/** Names that no variable, parameter or field may have, either. */
const told = /^#?(?:un)?told(?![a-z])|Told$|^#?brought(?![a-z])/
const riddleFiles = /(?:^|-)(?:told|then|words|sides|brought|gifts?)(?:-|\.)/
/** Words of 32 bits are words. */
const holdsBits = /^(?:answer|bundle|judge\/clients|routing|system)\//

export function riddleViolations({ path, ast }: Pick<Source, 'path' | 'ast'>): string[] {
  if (isTest(path) || holdsBits.test(path)) return []
  const names = ast.statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText())
    const isNamed =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement)
    return isNamed && statement.name !== undefined ? [statement.name.text] : []
  })
  const file = path.split('/').at(-1)!
  const inner: string[] = []
  visitKinds(ast, declarations, (node) => {
    const { name } = node as ts.NamedDeclaration
    if (name !== undefined && told.test(name.getText())) inner.push(name.getText())
  })
  return [
    ...new Set([...names.filter((name) => riddles.test(name)), ...inner]),
    ...(riddleFiles.test(file) ? [file] : []),
  ].map((name) => `${path}: "${name}" does not say what it is; use the name of the field`)
}

const declarations = [
  ts.SyntaxKind.VariableDeclaration,
  ts.SyntaxKind.Parameter,
  ts.SyntaxKind.BindingElement,
  ts.SyntaxKind.PropertySignature,
  ts.SyntaxKind.PropertyDeclaration,
  ts.SyntaxKind.PropertyAssignment,
  ts.SyntaxKind.MethodSignature,
  ts.SyntaxKind.MethodDeclaration,
]

/** A file opens with one sentence: what it knows. */
export function openingViolations(source: Source): string[] {
  const lines = source.text.replace(/^#!.*\n/, '').split('\n')
  const after = lines.findIndex((line) => !line.startsWith('// '))
  const opening = lines.slice(0, after === -1 ? lines.length : after).join(' ')
  const isSentence = /^\/\/ (?!eslint|prettier|@)\S+( \S+)+[.:?!]/.test(opening)
  return isSentence ? [] : [`${source.path}:1: open with a comment that says what this file knows.`]
}

/**
 * Code that changes state says what must hold: at least so many assertions for each 1,000 lines,
 * each with a sentence.
 */
export function assertionViolations(
  sources: readonly Source[],
  folders: readonly string[],
  perThousandMin: number,
): string[] {
  return folders.flatMap((folder) => {
    const own = sources.filter(({ path }) => folderOf(path) === folder)
    const lines = own.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    const calls = own.flatMap(assertionsIn)
    const missing = Math.ceil((lines * perThousandMin) / 1_000) - calls.length
    const few = `${folder}: ${calls.length} assertions in ${lines} lines; add ${missing}`
    const mute = calls
      .filter(({ isTold }) => !isTold)
      .map(({ place }) => `${place}: say what holds`)
    return missing > 0 ? [few, ...mute] : mute
  })
}

function assertionsIn(source: Source): { readonly place: string; readonly isTold: boolean }[] {
  const found: { place: string; isTold: boolean }[] = []
  visitKinds(source.ast, [ts.SyntaxKind.CallExpression], (node) => {
    if (!ts.isCallExpression(node) || !/^(?:assert|unreachable)$/.test(node.expression.getText()))
      return
    // `unreachable` names the value, which says enough.
    const [, sentence] = node.arguments
    const isTold = sentence === undefined || / \S+ /.test(sentence.getText())
    found.push({ place: at(source, node.getStart()), isTold })
  })
  return found
}
