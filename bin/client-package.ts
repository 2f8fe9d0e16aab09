// Writes dist/client/, the package @gslbd/client as it is published: JavaScript and declarations.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const source = join(root, 'clients/typescript')

/** @param folder it is made anew; left out: dist/client */
export function writeClientPackage(folder = join(root, 'dist/client')): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const names = readdirSync(source)
  for (const name of names.filter((one) => one.endsWith('.ts') && !one.endsWith('.d.ts'))) {
    const text = readFileSync(join(source, name), 'utf8')
    const stem = join(folder, name.replace(/\.ts$/, ''))
    writeFileSync(`${stem}.js`, withSuffixes(outputOf(ts.transpileModule(text, options(name)))))
    const declared = ts.transpileDeclaration(text, options(name, { declaration: true }))
    writeFileSync(`${stem}.d.ts`, withSuffixes(outputOf(declared)))
  }
  for (const name of ['openapi.d.ts', 'package.json', 'README.md']) {
    copyFileSync(join(source, name), join(folder, name))
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

function options(fileName: string, more: ts.CompilerOptions = {}): ts.TranspileOptions {
  const compilerOptions: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    strict: true,
    isolatedDeclarations: more.declaration === true,
    ...more,
  }
  return { fileName, reportDiagnostics: true, compilerOptions }
}

function outputOf({ outputText, diagnostics = [] }: ts.TranspileOutput): string {
  const [first] = diagnostics
  if (first === undefined) return outputText
  const sentence = ts.flattenDiagnosticMessageText(first.messageText, '\n')
  throw new Error(`clients/typescript/${first.file?.fileName ?? ''}: ${sentence}`)
}

/** Node runs no TypeScript out of node_modules: `./pages.ts` is `./pages.js` there. */
const withSuffixes = (text: string): string =>
  text.replaceAll(/(from '\.\/[\w-]+)(?:\.d)?\.ts'/g, "$1.js'")

if (import.meta.main) writeClientPackage(process.argv[2])
