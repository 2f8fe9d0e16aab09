// Makes threads that our code starts in a test's process begin from the bundle of the program.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundledProgram } from './bundled-program.ts'

const root = join(import.meta.dirname, '../..')

let folder: string | undefined
/** File of the bundle for each source file that a thread starts with. */
let threads: Readonly<Record<string, string>> = {}

/** A thread loads everything anew, and 300 source files take four times as long. */
function withBundledThreads(code: string, path: string): string {
  if (folder === undefined) {
    folder = bundledProgram()
    threads = JSON.parse(readFileSync(join(folder, 'threads.json'), 'utf8')) as typeof threads
  }
  const bundled = folder
  return code.replace(
    /new URL\(['"](\.\/[\w-]+\.ts)['"], import\.meta\.url\)/g,
    (whole, file: string) => {
      const name = threads[join(path, '..', file)]
      if (name === undefined) return whole
      return `new URL(${JSON.stringify(pathToFileURL(join(bundled, name)).href)})`
    },
  )
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const { format, source } = loaded
    if (format !== 'module-typescript' || source === undefined || source === null) return loaded
    const path = relative(root, fileURLToPath(url))
    if (/^(\.\.|test|bench)\b/.test(path)) return loaded
    const code = typeof source === 'string' ? source : new TextDecoder().decode(source)
    return code.includes('new URL(')
      ? { ...loaded, source: withBundledThreads(code, path) }
      : loaded
  },
})
