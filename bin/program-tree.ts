// Writes the tree that the Debian package and the image install: the built program, its packages,
// its Node.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { missingTerms } from './licences.ts'
import { takeSteps } from './package-steps.ts'
import type { Steps } from './package-steps.ts'

const root = join(import.meta.dirname, '..')
/** Declarations and source maps are only for developers. */
const notProgram = /\.(?:d\.[cm]?ts|map)$/

export const ourOwn = ['dist', 'bin/gslbd', 'package.json', 'LICENSE', 'NOTICE'] as const

/** Size limit of an installation, without Node. */
export const installedBytesMax = 60_000_000

interface Package {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export const { version } = packageAt(root)

/**
 * Puts the program below /usr/lib/gslbd, with a link in /usr/bin.
 *
 * @param isBuilt dist/ is there; else it is built
 */
export async function putProgram(
  stage: string,
  { say, run }: Pick<Steps, 'say' | 'run'>,
  isBuilt = false,
): Promise<void> {
  if (!isBuilt) {
    say('building the program')
    await run(process.execPath, join(root, 'bin/build.ts'))
  }
  say('copying the program, its packages and its Node')
  const home = join(stage, 'usr/lib/gslbd')
  const copy = (from: string, to: string): void => {
    const filter = (path: string): boolean => !notProgram.test(path)
    cpSync(from, join(home, to), { recursive: true, dereference: true, filter })
  }
  for (const name of ourOwn) copy(join(root, name), name)
  for (const path of productPackages()) {
    copy(path, relative(root, path))
    const terms = missingTerms(path)
    if (terms !== undefined) writeFileSync(join(home, relative(root, path), 'LICENSE'), terms)
  }
  // The Node that runs the tests.
  const node = realpathSync(join(root, 'node_modules/.bin/node'))
  copy(node, 'node_modules/node/bin/node')
  chmodSync(join(home, 'node_modules/node/bin/node'), 0o755)
  copy(join(node, '../../LICENSE'), 'node_modules/node/LICENSE')
  mkdirSync(join(home, 'node_modules/.bin'), { recursive: true })
  symlinkSync('../node/bin/node', join(home, 'node_modules/.bin/node'))
  mkdirSync(join(stage, 'usr/bin'), { recursive: true })
  symlinkSync('../lib/gslbd/bin/gslbd', join(stage, 'usr/bin/gslbd'))
}

function packageAt(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package
}

/** Returns the installed folders of the packages that the bundled program does not contain. */
export function productPackages(): readonly string[] {
  const found = new Map<string, string>()
  const add = (name: string): void => {
    const folder = join(root, 'node_modules', name)
    // Machine code for other processors is not installed; its package and those below it are
    // skipped.
    if (found.has(name) || !existsSync(folder)) return
    found.set(name, folder)
    const { dependencies, optionalDependencies } = packageAt(folder)
    Object.keys({ ...dependencies, ...optionalDependencies }).forEach(add)
  }
  Object.keys(packageAt(root).dependencies ?? {}).forEach(add)
  return [...found.values()]
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: 'string', short: 'o' } } })
  const { output } = values
  if (output === undefined) throw new Error('say where: --output FOLDER')
  await takeSteps('program', (steps) => putProgram(output, steps))
}
