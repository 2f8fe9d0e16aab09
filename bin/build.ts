// Writes dist/: the same files as JavaScript, for the package and the image.
// Node strips no types below node_modules.
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { buildDashboard, writeTypes } from './dashboard.ts'
import { libraryFiles, libraryFolder, shippedFolder } from '#api/reference/assets.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

interface Package {
  readonly name: string
  readonly version: string
  readonly type: string
  readonly imports: Readonly<Record<string, string>>
}
const { name, version, type, imports } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Package

const notProduct = new Set(['#test/*', '#bench/*', '#dashboard/*'])
const aliases = Object.keys(imports).filter((alias) => !notProduct.has(alias))
const folders = aliases.map((alias) => alias.slice('#'.length, -'/*'.length))

/** Specifiers such as `./x.ts` become `./x.js`; `#layer/x.ts` is left to the map below. */
function toJavaScript(source: string): string {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  })
  // Worker files are URLs, which the compiler does not rewrite.
  return outputText.replace(/(new URL\(\s*['"][^'"]+)\.ts(['"])/g, '$1.js$2')
}

rmSync(dist, { recursive: true, force: true })
for (const path of globSync(`{${folders.join(',')}}/**/*.ts`, { cwd: root })) {
  const target = join(dist, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, toJavaScript(readFileSync(join(root, path), 'utf8')))
}

// What the product reads at run time besides its code.
for (const path of [
  ...globSync(`{${folders.join(',')}}/**/*.{json,sql}`, { cwd: root }),
  'examples',
]) {
  if (existsSync(join(root, path))) cpSync(join(root, path), join(dist, path), { recursive: true })
}

// Of the reference page: two files of a library of 12 MB, and what its licences want with them.
for (const name of libraryFiles) {
  cpSync(join(libraryFolder(), name), join(dist, 'api/reference', shippedFolder, name))
}

await buildDashboard()
await writeTypes()

const map = Object.fromEntries(
  folders.flatMap((folder) => [
    [`#${folder}/*.ts`, `./${folder}/*.js`],
    [`#${folder}/*`, `./${folder}/*`],
  ]),
)
const inner = { name, version, type, private: true, imports: map }
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(inner, null, 2)}\n`)
