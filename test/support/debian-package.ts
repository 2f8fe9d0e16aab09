// The Debian package of this checkout, built once for all files of a run.
import { execFileSync } from 'node:child_process'
import { globSync, linkSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { inject } from 'vitest'

const source = join(import.meta.dirname, '../..')
const script = join(source, 'bin/package-deb.ts')

/** @returns its path in the folder, where it is a link */
export function debianPackage(folder: string): string {
  const built = join(inject('runDirectory'), 'deb')
  mkdirSync(built, { recursive: true })
  // The first to come builds, and others wait: two builds at once would share `dist/`.
  const build = `test -e "$1"/*.deb || exec "$2" "$3" --output "$1" --compression none`
  const args = [join(built, 'lock'), 'sh', '-c', build, 'sh', built, process.execPath, script]
  execFileSync('flock', args, { cwd: source, stdio: 'pipe' })
  const [made = ''] = globSync(join(built, '*.deb'))
  const path = join(folder, basename(made))
  linkSync(made, path)
  return path
}
