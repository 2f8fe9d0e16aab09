// Bundles the program into few files: the entries of processes and threads, and shared chunks.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { licences } from './licences.ts'
import { readyChecks } from './ready-checks.ts'

const root = join(import.meta.dirname, '..')

/** Packages with machine code stay outside: an installation has them beside the program. */
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** Entry of `bin/gslbd`. */
const start = 'cli/main'

const ownFile = /new URL\("(?:\.\/)?([\w-]+\.(?:data|wasm))",import\.meta\.url\)/g

/**
 * Rewrites paths, so that a file finds its neighbours at the places of its source, and threads
 * start with bundled files.
 */
const places: Plugin = {
  name: 'places',
  transform(code, id) {
    const path = relative(root, id)
    if (path.startsWith('..') || !code.includes('import.meta.')) return null
    if (path.startsWith('node_modules')) {
      // A package finds its own data files beside the bundled code.
      for (const [, name = ''] of code.matchAll(ownFile)) {
        const file = join(dirname(id), name)
        if (!existsSync(file)) continue
        this.emitFile({ type: 'asset', fileName: `program/${name}`, source: readFileSync(file) })
      }
      return null
    }
    const name = path.replace(/\.ts$/, '')
    // Every bundled file lies in a folder of dist/.
    return code
      .replace(/new URL\(\s*'(\.\/[\w-]+\.ts)', import\.meta\.url\)/g, (_, file: string) => {
        const threadId = resolve(dirname(id), file)
        const threadName = relative(root, threadId).slice(0, -'.ts'.length).replaceAll('/', '-')
        const thread = this.emitFile({ type: 'chunk', id: threadId, name: threadName })
        return `new URL(import.meta.ROLLUP_FILE_URL_${thread})`
      })
      .replaceAll('import.meta.url', `new URL('../${name}.js', import.meta.url).href`)
      .replaceAll('import.meta.dirname', `(import.meta.dirname + '/../${dirname(name)}')`)
      .replaceAll('import.meta.main', name === start ? 'import.meta.main' : 'false')
  },
}

/** @param folder folder for `cli/main.js`, and `program/` with all other files */
export async function bundleProgram(folder: string): Promise<void> {
  const program = await rolldown({
    cwd: root,
    input: { [start]: join(root, `${start}.ts`) },
    platform: 'node',
    external: Object.keys(dependencies),
    plugins: [readyChecks, places, licences],
    // Generated code of WebAssembly contains an `eval` that is never reached.
    checks: { eval: false },
  })
  await program.write({
    dir: folder,
    format: 'esm',
    entryFileNames: ({ name }) => (name === start ? '[name].js' : 'program/[name].js'),
    chunkFileNames: 'program/[name]-[hash].js',
    // V8 keeps the source text of each thread, with two bytes a character when one character needs
    // two. Names and lines stay, so that a stack trace shows the place.
    comments: false,
    minify: {
      compress: false,
      mangle: false,
      codegen: { removeWhitespace: false, asciiOnly: true },
    },
  })
  await program.close()
}
