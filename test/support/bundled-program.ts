// Builds the program in few files, which tests start as processes and threads.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
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
