// Bundles the program for tests that start it as a process: `node build-program.ts FOLDER`. See
// program.ts.
import { globSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'

const root = join(import.meta.dirname, '../..')
const dayMs = 24 * 60 * 60_000
/** Packages with native code, or that load files beside their own. */
const external = [/^(bcrypt|koffi|quickjs-emscripten-core)$/, /^@(electric-sql|jitl)\//]

/** Reference in the bundle of each file that a thread starts with. */
const threads = new Map<string, string>()

/** Keeps our relative file references valid; a thread starts from a file of the bundle. */
const places: Plugin = {
  name: 'places',
  transform(code, path) {
    if (!path.startsWith(root) || path.includes('/node_modules/')) return null
    if (!code.includes('import.meta.')) return null
    const isEntry = path === join(root, 'cli/main.ts')
    return code
      .replace(/new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g, (_, file: string) => {
        const id = resolve(dirname(path), file)
        const reference = this.emitFile({ type: 'chunk', id })
        threads.set(relative(root, id), reference)
        return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`
      })
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
      .replaceAll('import.meta.main', isEntry ? 'import.meta.main' : 'false')
  },
  generateBundle() {
    const names = [...threads].map(([path, reference]) => [path, this.getFileName(reference)])
    const source = JSON.stringify(Object.fromEntries(names))
    this.emitFile({ type: 'asset', fileName: 'threads.json', source })
    // Without it Node parses each file twice to find its module format.
    const format = JSON.stringify({ type: 'module' })
    this.emitFile({ type: 'asset', fileName: 'package.json', source: format })
  },
}

async function build(folder: string): Promise<void> {
  const parts = await rolldown({
    cwd: root,
    input: { main: join(root, 'cli/main.ts') },
    platform: 'node',
    external,
    plugins: [places],
  })
  // Another process may have built it meanwhile; both results are equal.
  const draft = `${folder}.${process.pid}`
  await parts.write({ dir: draft, format: 'esm', entryFileNames: '[name].js' })
  try {
    renameSync(draft, folder)
  } catch {
    rmSync(draft, { recursive: true })
  }
}

function removeOld(cache: string): void {
  for (const name of globSync('*', { cwd: cache })) {
    const path = join(cache, name)
    if (statSync(path).mtimeMs < Date.now() - dayMs) rmSync(path, { recursive: true, force: true })
  }
}

const [folder = ''] = process.argv.slice(2)
removeOld(dirname(folder))
await build(folder)
