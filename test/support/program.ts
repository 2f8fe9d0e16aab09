// Where the program is that tests start as a process: its source, or the same in fewer files.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { layers } from '../layers.ts'

const root = join(import.meta.dirname, '../..')
export const sourcePath = join(root, 'cli/main.ts')
const builder = join(import.meta.dirname, 'build-program.ts')

/** Changes with whatever the bundle is made of. */
function fingerprint(): string {
  const hash = createHash('sha256')
  const sources = layers.map(({ folder }) => `${folder}/**/*.ts`)
  for (const path of globSync([...sources, 'package-lock.json'], { cwd: root })) {
    const { mtimeMs, size } = statSync(join(root, path))
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

/**
 * The file to start gslbd with. Of the CPU time of a start, Node spends more than half on finding
 * and loading 2,700 files: the short lane starts a bundle of them. The long lane, the peers,
 * `bin/gslbd` and what runs in the process of a test take the source.
 */
export function programPath(): string {
  if (inject('lane') === 'long') return sourcePath
  const folder = join(root, 'node_modules/.cache/gslbd-program', fingerprint())
  const main = join(folder, 'main.js')
  if (!existsSync(main)) execFileSync(process.execPath, [builder, folder], { stdio: 'inherit' })
  return main
}
