// Tells this build of the program from others: what one has made, another need not make alike.
import { hash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '#lib/version.ts'

const root = join(import.meta.dirname, '../..')

/** Folders of a build, else of the sources that read a configuration and compile it. */
const built = ['program']
const sources = [
  ...['lib', 'dns', 'probes', 'schemas', 'bundle', 'routing', 'diagnostics', 'compiler'],
  ...['config', 'judge', 'gitops'],
]

/** By the names, sizes and times of its files, and by Node. Hex. */
export function programStamp(): string {
  const folders = namesIn(root).includes(built[0]!) ? built : sources
  const files = folders.flatMap((folder) => filesIn(join(root, folder)))
  const packages = stampOf(join(root, 'package-lock.json'))
  return hash('sha256', [version, process.version, process.arch, packages, ...files].join('\n'))
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => `${name} ${stampOf(join(folder, name))}`)
}

function stampOf(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false })
  return file === undefined ? '' : `${file.size} ${file.mtimeMs}`
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
