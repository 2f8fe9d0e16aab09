// Identifies this build of the program, so that it does not use what another build has kept.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '#lib/version.ts'

/** Sources that read a configuration and compile it, and their packages. */
const sources = [
  ...['lib', 'dns', 'probes', 'schemas', 'bundle', 'routing', 'diagnostics', 'compiler'],
  ...['config', 'judge', 'gitops', 'package-lock.json'],
]

/**
 * By what the build says of its files and packages; of sources by their names, sizes and times; and
 * by Node. Hex.
 *
 * @param root of the sources, or what the build has made of them
 */
export function programStamp(root = join(import.meta.dirname, '../..')): string {
  const { contents } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly contents?: string
  }
  const files = contents ?? sources.flatMap((name) => filesIn(join(root, name))).join('\n')
  return hash('sha256', [version, process.version, process.arch, files].join('\n'))
}

/** One, if it is no folder. */
function filesIn(path: string): string[] {
  const file = statSync(path, { throwIfNoEntry: false })
  if (file === undefined) return []
  if (!file.isDirectory()) return [`${path} ${file.size} ${file.mtimeMs}`]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)))
}
