// The Debian package: installed, started, upgraded, removed and purged by dpkg, below a directory
// of its own. The npm package, and the unit, as systemd judges it.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const source = join(import.meta.dirname, '../..')
let work: string
let root: string
let first: string

beforeAll(() => {
  work = makeTempDir('deb')
  root = join(work, 'root')
  for (const folder of ['info', 'updates', 'triggers']) {
    mkdirSync(join(root, 'var/lib/dpkg', folder), { recursive: true })
  }
  writeFileSync(join(root, 'var/lib/dpkg/status'), '')
  const script = join(source, 'bin/package-deb.ts')
  const args = [script, '--output', work, '--compression', 'none']
  execFileSync(process.execPath, args, { cwd: source, stdio: 'pipe' })
  first = join(work, readdirSync(work).find((name) => name.endsWith('.deb')) ?? '')
})
afterAll(() => removeTempDir(work))

/** Scripts run outside of the directory, with DPKG_ROOT, as dpkg does where there is no chroot. */
function dpkg(...args: string[]): string {
  const force = ['not-root', 'script-chrootless', 'depends', 'bad-path', 'confold', 'unsafe-io']
  const forced = force.map((what) => `--force-${what}`)
  const places = [`--instdir=${root}`, `--admindir=${root}/var/lib/dpkg`, `--log=${work}/log`]
  return execFileSync('dpkg', [...forced, ...places, ...args], { encoding: 'utf8', stdio: 'pipe' })
}

const at = (path: string): string => join(root, path)

function statusOf(): string {
  const args = [`--admindir=${root}/var/lib/dpkg`, '-W', '-f', '${Status} ${Version}', 'gslbd']
  return execFileSync('dpkg-query', args, { encoding: 'utf8' })
}

/** The same package with a higher version. */
function nextVersion(): string {
  const tree = join(work, 'tree')
  execFileSync('dpkg-deb', ['--raw-extract', first, tree])
  const control = join(tree, 'DEBIAN/control')
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, 'Version: 99.0.0'))
  const file = join(work, 'next.deb')
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file])
  rmSync(tree, { recursive: true })
  return file
}

test('it installs: program, unit, settings, man page and completions', () => {
  dpkg('--install', first)
  expect(statusOf()).toMatch(/^install ok installed /)
  for (const path of [
    'usr/lib/gslbd/dist/cli/main.js',
    'lib/systemd/system/gslbd.service',
    'etc/gslbd/gslbd.yaml',
    'usr/share/man/man1/gslbd.1',
    'usr/share/bash-completion/completions/gslbd',
    'var/lib/gslbd',
  ]) {
    expect([path, existsSync(at(path))]).toEqual([path, true])
  }
  const out = execFileSync(at('usr/bin/gslbd'), ['--version'], { encoding: 'utf8' })
  expect(out).toMatch(/^gslbd \d/)
  const settings = ['check-settings', at('etc/gslbd/gslbd.yaml')]
  expect(execFileSync(at('usr/bin/gslbd'), settings, { encoding: 'utf8' })).toContain(
    'a node takes',
  )
})

const { spawnProgram } = useDaemons()

test('it starts, and answers', async () => {
  const file = join(work, 'gslbd.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  writeFileSync(
    file,
    JSON.stringify({ dataDir: at('var/lib/gslbd'), dns, api: { enabled: false } }),
  )
  const daemon = spawnProgram(at('usr/lib/gslbd/dist/cli/main.js'), 'serve', '--settings', file)
  await daemon.running()
  // Nobody has pushed anything: each query is refused, by us.
  expect(await daemon.answers('www.example.com. A')).toEqual(['REFUSED'])
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('an upgrade keeps the settings that somebody has changed, and the data', () => {
  const changed = readFileSync(at('etc/gslbd/gslbd.yaml'), 'utf8') + '# mine\n'
  writeFileSync(at('etc/gslbd/gslbd.yaml'), changed)
  dpkg('--install', nextVersion())
  expect(statusOf()).toBe('install ok installed 99.0.0')
  expect(readFileSync(at('etc/gslbd/gslbd.yaml'), 'utf8')).toBe(changed)
  expect(existsSync(at('var/lib/gslbd/keys/node.pem'))).toBe(true)
})

test('a removal leaves settings and data, a purge nothing', () => {
  dpkg('--remove', 'gslbd')
  expect(existsSync(at('usr/lib/gslbd/dist'))).toBe(false)
  expect(existsSync(at('etc/gslbd/gslbd.yaml'))).toBe(true)
  expect(existsSync(at('var/lib/gslbd/keys/node.pem'))).toBe(true)
  dpkg('--purge', 'gslbd')
  expect(existsSync(at('etc/gslbd'))).toBe(false)
  expect(existsSync(at('var/lib/gslbd'))).toBe(false)
})

/** As npm installs it, but for the packages that it needs: those are the ones of the checkout. */
function installNpmPackage(): string {
  // The build is there: the Debian package has the same.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', work]
  const packed = execFileSync('npm', pack, { cwd: source, encoding: 'utf8', stdio: 'pipe' })
  expect(packed).not.toMatch(/"path": "(?!dist\/|bin\/gslbd"|package\.json"|LICENSE"|README\.md")/)
  const modules = join(work, 'npm/node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  const tarball = join(work, readdirSync(work).find((name) => name.endsWith('.tgz')) ?? '')
  execFileSync('tar', ['-xzf', tarball, '-C', modules])
  renameSync(join(modules, 'package'), join(modules, 'gslbd'))
  symlinkSync(join(source, 'node_modules'), join(modules, 'gslbd/node_modules'))
  symlinkSync('../gslbd/bin/gslbd', join(modules, '.bin/gslbd'))
  return modules
}

test('the npm package has no more than it needs, runs, and answers', async () => {
  const modules = installNpmPackage()
  const program = join(modules, '.bin/gslbd')
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe(`gslbd ${version}\n`)
  const file = join(work, 'npm.yaml')
  const dns = { listenAddr: '127.0.0.1', port: 0, threads: 1 }
  const settings = { dataDir: join(work, 'npm-data'), dns, api: { enabled: false } }
  writeFileSync(file, JSON.stringify(settings))
  const main = join(modules, 'gslbd/dist/cli/main.js')
  const daemon = spawnProgram(main, 'serve', '--settings', file)
  await daemon.running()
  expect(await daemon.answers('www.example.com. A')).toEqual(['REFUSED'])
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('systemd finds the unit exposed to no more than 2.0', () => {
  const unit = join(source, 'deploy/systemd/gslbd.service')
  const args = ['security', '--offline=true', '--no-pager', '--threshold=20', unit]
  const said = execFileSync('systemd-analyze', args, { encoding: 'utf8' })
  expect(said).toMatch(/Overall exposure level for gslbd\.service: [01]\.\d/)
})
