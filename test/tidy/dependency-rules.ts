// The rule that each dependency of package.json is imported somewhere, or run as a program.
import ts from 'typescript'
import { importsOf, packageOf } from './imports.ts'
import { visitKinds } from './source.ts'
import type { Source } from './source.ts'

/** @param programs what is run and never imported, with the reason */
export function idleDependencies(
  manifest: string,
  sources: readonly Source[],
  programs: Readonly<Record<string, string>>,
): string[] {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(manifest) as Manifest
  const names = Object.keys({ ...dependencies, ...devDependencies })
  const used = new Set(sources.flatMap(packagesOf))
  const isUsed = (name: string): boolean => used.has(name) || Object.hasOwn(programs, name)
  const idle = names
    .filter((name) => !isUsed(name.replace(/^@types\//, '')) && !isUsed(name))
    .map((name) => `${name} is imported nowhere; remove it by npm uninstall`)
  const stale = Object.keys(programs)
    .filter((name) => used.has(name) || !names.includes(name))
    .map((name) => `${name} is no program that only runs; remove its row`)
  return [...idle, ...stale]
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Also those of which a file is found by `require.resolve`. */
function packagesOf(source: Source): string[] {
  const found = importsOf(source).map(({ specifier }) => packageOf(specifier))
  visitKinds(source.ast, [ts.SyntaxKind.CallExpression], (node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
    if (node.expression.name.text !== 'resolve') return
    const [argument] = node.arguments
    const asked = node.expression.getText()
    const isOfModules = /^(?:require|import\.meta|createRequire\(.*\))\.resolve$/.test(asked)
    if (!isOfModules || argument === undefined) return
    if (ts.isStringLiteralLike(argument)) found.push(packageOf(argument.text))
  })
  return found
}
