// Builds the program in few files, which the short lane starts as processes and threads.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vitest/config'
import { layers } from '../layers.ts'

const root = join(import.meta.dirname, '../..')
const builder = join(import.meta.dirname, 'build-program.ts')

/** Digest of everything that the bundle is made from. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(builder))
  const sources = layers.map(({ folder }) => `${folder}/**/*.ts`)
  for (const path of globSync([...sources, 'package-lock.json'], { cwd: root })) {
    const { mtimeMs, size } = statSync(join(root, path))
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

/** @returns the folder of the bundle, built if missing for these sources */
export function bundledProgram(): string {
  const folder = join(root, 'node_modules/.cache/gslbd-program', fingerprint())
  if (!existsSync(join(folder, 'main.js'))) {
    execFileSync(process.execPath, [builder, folder], { stdio: 'inherit' })
  }
  return folder
}

function startsThreads(code: string, id: string): boolean {
  return code.includes('new URL(') && !/^(\.\.|test|bench|node_modules)\b/.test(relative(root, id))
}

/**
 * Makes threads that our code starts in a test's process begin from the bundle: a thread loads
 * everything anew, and 300 source files take four times as long.
 */
export function bundledThreads(): Plugin {
  let folder: string | undefined
  let threads: Readonly<Record<string, string>> = {}
  return {
    name: 'bundled-threads',
    // Vitest caches transformed files, which may refer to an older bundle.
    configureVitest({ defineCacheKeyGenerator }) {
      const print = fingerprint()
      defineCacheKeyGenerator(({ id, sourceCode }) =>
        startsThreads(sourceCode, id) ? print : null,
      )
    },
    transform(code, id) {
      if (!startsThreads(code, id)) return null
      const path = relative(root, id)
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
    },
  }
}
