// Writes what the Debian package and the image install: the built program, its packages, its Node.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
/** Declarations and maps are for those who write programs: 60 MB of 150. */
const notProgram = /\.(?:d\.[cm]?ts|map)$/

export const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string
}

/** Builds dist/ and puts all below /usr/lib/gslbd, with a link in /usr/bin. */
export function putProgram(stage: string): void {
  execFileSync(process.execPath, [join(root, 'bin/build.ts')], { stdio: 'inherit' })
  const home = join(stage, 'usr/lib/gslbd')
  const copy = (from: string, to: string): void => {
    const filter = (path: string): boolean => !notProgram.test(path)
    cpSync(from, join(home, to), { recursive: true, dereference: true, filter })
  }
  for (const name of ['dist', 'bin/gslbd', 'package.json', 'LICENSE']) copy(join(root, name), name)
  for (const path of productPackages()) copy(path, relative(root, path))
  // The Node that the tests run with.
  copy(realpathSync(join(root, 'node_modules/.bin/node')), 'node_modules/node/bin/node')
  chmodSync(join(home, 'node_modules/node/bin/node'), 0o755)
  mkdirSync(join(home, 'node_modules/.bin'), { recursive: true })
  symlinkSync('../node/bin/node', join(home, 'node_modules/.bin/node'))
  mkdirSync(join(stage, 'usr/bin'), { recursive: true })
  symlinkSync('../lib/gslbd/bin/gslbd', join(stage, 'usr/bin/gslbd'))
}

/** As they are installed here, without those that only tests and builds need. */
function productPackages(): readonly string[] {
  const list = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const found: string[] = []
  for (const path of list.split('\n').slice(1)) {
    if (!relative(root, path).startsWith('node_modules/')) continue
    // A package carries those below it.
    if (!found.some((above) => path.startsWith(`${above}/`))) found.push(path)
  }
  return found
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: 'string', short: 'o' } } })
  if (values.output === undefined) throw new Error('say where: --output FOLDER')
  putProgram(values.output)
}
