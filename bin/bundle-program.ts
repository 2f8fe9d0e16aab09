// Makes the program few files: those a process or a thread starts with, and what they share.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { licences } from './licences.ts'
import { readyChecks } from './ready-checks.ts'

const root = join(import.meta.dirname, '..')

/** Machine code: what an install brings beside the program. */
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** What `bin/gslbd` runs. */
const start = 'cli/main'

const ownFile = /new URL\("(?:\.\/)?([\w-]+\.(?:data|wasm))",import\.meta\.url\)/g

/** A file finds its neighbours where its source had them, and threads start with files of ours. */
const places: Plugin = {
  name: 'places',
  transform(code, id) {
    const path = relative(root, id)
    if (path.startsWith('..') || !code.includes('import.meta.')) return null
    if (path.startsWith('node_modules')) {
      // A package finds its own files beside the code that is made of it.
      for (const [, name = ''] of code.matchAll(ownFile)) {
        const file = join(dirname(id), name)
        if (!existsSync(file)) continue
        this.emitFile({ type: 'asset', fileName: `program/${name}`, source: readFileSync(file) })
      }
      return null
    }
    const name = path.replace(/\.ts$/, '')
    // Every file that is made lies in a folder of dist/.
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

/** @param folder for `cli/main.js`, and `program/` with all else */
export async function bundleProgram(folder: string): Promise<void> {
  const program = await rolldown({
    cwd: root,
    input: { [start]: join(root, `${start}.ts`) },
    platform: 'node',
    external: Object.keys(dependencies),
    plugins: [readyChecks, places, licences],
    // The code of WebAssembly has some, which is never reached.
    checks: { eval: false },
  })
  await program.write({
    dir: folder,
    format: 'esm',
    entryFileNames: ({ name }) => (name === start ? '[name].js' : 'program/[name].js'),
    chunkFileNames: 'program/[name]-[hash].js',
    // V8 keeps the text of what it has loaded, in each thread, with two bytes a character when one
    // of them needs two. Names and lines stay, so that a stack still says where it was.
    comments: false,
    minify: {
      compress: false,
      mangle: false,
      codegen: { removeWhitespace: false, asciiOnly: true },
    },
  })
  await program.close()
}
