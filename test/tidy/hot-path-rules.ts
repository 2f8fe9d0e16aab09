// The hot-path law: what may not stand in a function that runs for every query.
import ts from 'typescript'
import { isFunction } from './form-rules.ts'
import { at, visit } from './source.ts'
import type { Source } from './source.ts'

interface Offence {
  readonly name: string
  readonly matches: (node: ts.Node) => boolean
}

const offences: readonly Offence[] = [
  { name: '`new`', matches: ts.isNewExpression },
  { name: 'an array literal', matches: ts.isArrayLiteralExpression },
  { name: 'an object literal', matches: ts.isObjectLiteralExpression },
  { name: 'a closure', matches: isFunction },
  { name: 'a class', matches: ts.isClassLike },
  { name: 'a template string', matches: ts.isTemplateLiteral },
  { name: 'a regular expression', matches: ts.isRegularExpressionLiteral },
  { name: 'spread', matches: (node) => ts.isSpreadElement(node) || ts.isSpreadAssignment(node) },
  { name: 'a rest parameter', matches: (node) => ts.isParameter(node) && !!node.dotDotDotToken },
  { name: 'destructuring of an array', matches: ts.isArrayBindingPattern },
  {
    name: 'an iterator',
    matches: (node) => ts.isForOfStatement(node) || ts.isForInStatement(node),
  },
  { name: 'try', matches: ts.isTryStatement },
  { name: 'await', matches: (node) => ts.isAwaitExpression(node) || ts.isYieldExpression(node) },
  {
    name: 'a method that allocates',
    matches: (node) =>
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      /^(?:subarray|slice|map|filter|concat|toString|split|join|from|of|entries|keys|values)$/.test(
        node.expression.name.text,
      ),
  },
]

/** Runs once, at the start or when a bundle is loaded: it may allocate. */
function isPreparation(node: ts.FunctionLikeDeclaration): boolean {
  if (ts.isConstructorDeclaration(node)) return true
  // `walk` does not enter functions, so this is an argument of a call that the import makes.
  if (ts.isCallExpression(node.parent)) return true
  if (ts.isFunctionDeclaration(node) && isCalledOnImportOnly(node)) return true
  const holder = node.name ?? (node.parent as { name?: ts.Node }).name
  return holder !== undefined && /^(?:bind|adopt|create[A-Z]\w*)$/.test(holder.getText())
}

/** A function of this file alone, that no other function of it names. */
function isCalledOnImportOnly(declaration: ts.FunctionDeclaration): boolean {
  const isExported = declaration.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  if (isExported === true || !ts.isSourceFile(declaration.parent)) return false
  let uses = 0
  let usesInFunctions = 0
  visit(declaration.parent, (node) => {
    if (!ts.isIdentifier(node) || node.text !== declaration.name?.text) return
    if (node === declaration.name) return
    uses++
    if (ts.findAncestor(node, isFunction) !== undefined) usesInFunctions++
  })
  return uses > 0 && usesInFunctions === 0
}

export function hotPathViolations(source: Source): string[] {
  const found: string[] = []
  const judge = (root: ts.FunctionLikeDeclaration): void => {
    if (ts.getModifiers(root)?.some(isAsync) || root.asteriskToken) {
      found.push(`${at(source, root.getStart())}: async or generator on the hot path`)
    }
    root.forEachChild((child) =>
      visit(child, (node) => {
        for (const { name, matches } of offences) {
          if (!matches(node)) continue
          found.push(`${at(source, node.getStart())}: ${name} on the hot path`)
        }
      }),
    )
  }
  const walk = (node: ts.Node): void => {
    if (isFunction(node) && !isPreparation(node)) judge(node)
    // What preparation returns is hot again, so the walk goes on inside it.
    else node.forEachChild(walk)
  }
  walk(source.ast)
  return found
}

const isAsync = ({ kind }: ts.Modifier): boolean => kind === ts.SyntaxKind.AsyncKeyword

/** Entries of the hot list that name nothing, so that the law could silently stop. */
export function missingHotFiles(hot: readonly string[], paths: readonly string[]): string[] {
  return hot
    .filter((entry) => !paths.some((path) => isHot(path, [entry])))
    .map((entry) => `test/hot-files.ts: the hot list names ${entry}, which does not exist`)
}

export function isHot(path: string, hot: readonly string[]): boolean {
  return hot.some((entry) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry))
}
