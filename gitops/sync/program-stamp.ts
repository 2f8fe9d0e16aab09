// Identifies this build of the program, so that it does not use what another build has kept.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { version } from '#lib/version.ts'

/** Folders whose sources do not affect what is compiled. */
const others = ['dashboard', 'bin', 'test', 'bench']

/**
 * A hash in hex: for a built program over the build's list of files and packages, for sources over
 * their names, sizes and times. Both include the version of Node.
 *
 * @param root of the sources, or of the built program
 */
export function programStamp(root = join(import.meta.dirname, '../..')): string {
  const { contents, imports = {} } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as { readonly contents?: string; readonly imports?: Readonly<Record<string, string>> }
  const folders = Object.values(imports).map((pattern) => basename(dirname(pattern)))
  const files = contents ?? filesOf(root, folders)
  return hash('sha256', [version, process.version, process.arch, files].join('\n'))
}

function filesOf(root: string, folders: readonly string[]): string {
  const sources = folders.filter((name) => !others.includes(name))
  return [...sources, 'package-lock.json'].flatMap((name) => filesIn(join(root, name))).join('\n')
}

/** Lists the files below a path, or the path itself if it is a file. */
function filesIn(path: string): string[] {
  const file = statSync(path, { throwIfNoEntry: false })
  if (file === undefined) return []
  if (!file.isDirectory()) return [`${path} ${file.size} ${file.mtimeMs}`]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)))
}
