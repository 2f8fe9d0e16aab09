// The start script finds its files and a Node that can run them, or says what is missing.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '#test/support/temp-dir.ts'

const script = join(import.meta.dirname, '../../../bin/gslbd')

/** An installation with the given files; one called node or getconf is made executable. */
function install(files: Readonly<Record<string, string>>): string {
  const root = tempDir('bin')
  mkdirSync(join(root, 'bin'))
  copyFileSync(script, join(root, 'bin/gslbd'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
    if (/\/(node|getconf)$/.test(path)) chmodSync(join(root, path), 0o755)
  }
  return root
}

/** A program that says it is Node of `version` and otherwise prints what it was asked to run. */
const fakeNode = (version: string): string =>
  `#!/bin/sh\n[ "$1" = --version ] && echo v${version} || echo "${version} runs $*"\n`

/** A machine of so many cores. */
const fakeCores = (cores: string): string => `#!/bin/sh\n${cores}\n`

function run(command: string, args: readonly string[], path = '', options = '') {
  const env = {
    PATH: `${path}:/usr/bin:/bin`,
    ...(options === '' ? {} : { NODE_OPTIONS: options }),
  }
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const young = '--max-semi-space-size=16 --no-concurrent-recompilation'

test('a checkout runs its source on the pinned Node', () => {
  const root = install({
    'cli/main.ts': '',
    'dist/cli/main.js': '',
    'node_modules/.bin/node': fakeNode('26.1.0'),
    'path/node': fakeNode('24.2.0'),
    'path/getconf': fakeCores('echo 2'),
  })
  const { stdout } = run(join(root, 'bin/gslbd'), ['check', 'a b'], join(root, 'path'))
  expect(stdout).toBe(`26.1.0 runs --v8-pool-size=1 ${young} ${root}/cli/main.ts check a b\n`)
})

test.each([
  [['serve'], 2],
  [['agent', '--settings', 'a'], 2],
  [['plan'], 16],
  [[], 16],
])('a serving process has less room for young objects than a command: %s', (args, young) => {
  const root = install({ 'dist/cli/main.js': '', 'path/node': fakeNode('24.2.0') })
  const { stdout } = run(join(root, 'bin/gslbd'), args, join(root, 'path'))
  expect(stdout).toContain(` --max-semi-space-size=${young} `)
})

test.each([
  { command: 'serve', isEnding: false },
  { command: 'agent', isEnding: false },
  { command: 'start', isEnding: false },
  { command: 'check', isEnding: true },
  { command: 'hook', isEnding: true },
])('a command that ends compiles without helpers, which could hold its end: $command', (row) => {
  const root = install({ 'dist/cli/main.js': '', 'path/node': fakeNode('26.1.0') })
  const { stdout } = run(join(root, 'bin/gslbd'), [row.command], join(root, 'path'))
  expect(stdout.includes(' --no-concurrent-recompilation ')).toBe(row.isEnding)
})

test('an installed package runs dist on the Node of the PATH', () => {
  const root = install({ 'dist/cli/main.js': '', 'path/node': fakeNode('24.2.0') })
  const { stdout } = run(join(root, 'bin/gslbd'), ['help'], join(root, 'path'))
  expect(stdout).toMatch(/^24\.2\.0 runs --v8-pool-size=\d /)
  expect(stdout).toContain(` ${root}/dist/cli/main.js help\n`)
})

test('a pinned Node that is too old gives way to a newer one on the PATH', () => {
  const root = install({
    'cli/main.ts': '',
    'node_modules/.bin/node': fakeNode('20.1.0'),
    'path/node': fakeNode('26.0.0'),
  })
  const { stdout } = run(join(root, 'bin/gslbd'), [], join(root, 'path'))
  expect(stdout).toContain('26.0.0 runs')
})

test('links are followed, absolute and relative', () => {
  const root = install({ 'cli/main.ts': '', 'node_modules/.bin/node': fakeNode('26.1.0') })
  const links = tempDir('links')
  symlinkSync(join(root, 'bin/gslbd'), join(links, 'absolute'))
  symlinkSync('absolute', join(links, 'relative'))
  const { stdout } = run(join(links, 'relative'), ['help'])
  expect(stdout).toContain(` ${root}/cli/main.ts help\n`)
})

test.each([
  { cores: 'echo 1', helpers: 1 },
  { cores: 'echo 2', helpers: 1 },
  { cores: 'echo 5', helpers: 2 },
  { cores: 'echo 64', helpers: 4 },
  { cores: 'exit 1', helpers: 1 },
])('where getconf does "$cores", V8 has $helpers threads of its own', ({ cores, helpers }) => {
  const root = install({
    'cli/main.ts': '',
    'path/node': fakeNode('26.1.0'),
    'path/getconf': fakeCores(cores),
  })
  const { stdout } = run(join(root, 'bin/gslbd'), ['help'], join(root, 'path'))
  expect(stdout).toBe(`26.1.0 runs --v8-pool-size=${helpers} ${young} ${root}/cli/main.ts help\n`)
})

test.each(['20.20.2', '24.1.0'])('an old Node (%s) is named, with what to do', (version) => {
  const root = install({ 'cli/main.ts': '', 'path/node': fakeNode(version) })
  const { status, stderr } = run(join(root, 'bin/gslbd'), [], join(root, 'path'))
  expect(status).toBe(70)
  expect(stderr).toContain(`needs Node 24.2 or newer, found ${version}`)
  expect(stderr).toContain('npm ci')
})

test.each(['24.2.0', '24.10.1', '25.0.0', '100.0.0'])('Node %s is new enough', (version) => {
  const root = install({ 'cli/main.ts': '', 'path/node': fakeNode(version) })
  const { status, stdout } = run(join(root, 'bin/gslbd'), [], join(root, 'path'))
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining(`${version} runs`) as string,
  })
})

test('the oldest Node is the one that package.json names', () => {
  const text = readFileSync(join(script, '../../package.json'), 'utf8')
  const { engines } = JSON.parse(text) as { engines: { node: string } }
  expect(readFileSync(script, 'utf8')).toContain(`Node ${engines.node.slice(2)} or newer`)
})

test('a user who cannot write beside the packages keeps compiled code at home', () => {
  const env = '#!/bin/sh\n[ "$1" = --version ] && echo v26.1.0 || echo "$NODE_COMPILE_CACHE"\n'
  const root = install({ 'dist/cli/main.js': '', 'path/node': env })
  const home = tempDir('home')
  const cacheOf = (HOME: string) =>
    spawnSync(join(root, 'bin/gslbd'), [], {
      env: { HOME, PATH: `${root}/path:/usr/bin:/bin` },
      encoding: 'utf8',
    }).stdout
  expect(cacheOf(home)).toBe(`${home}/.cache/gslbd\n`)
  expect(cacheOf(join(home, 'away'))).toBe(`${root}/node_modules/.cache/gslbd\n`)
})

test('a pinned Node that another user has for themselves is named', () => {
  const root = install({ 'cli/main.ts': '' })
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  symlinkSync('/nowhere/of/another/node', join(root, 'node_modules/.bin/node'))
  const { status, stderr } = run(join(root, 'bin/gslbd'), ['help'])
  expect([status, stderr]).toEqual([
    70,
    expect.stringContaining('leads to /nowhere/of/another/node'),
  ])
})

test('a fault that Node finds in NODE_OPTIONS is printed in its words', () => {
  const root = install({ 'cli/main.ts': '' })
  mkdirSync(join(root, 'path'))
  symlinkSync(process.execPath, join(root, 'path/node'))
  const options = '--no-such-option'
  const { status, stderr } = run(join(root, 'bin/gslbd'), [], join(root, 'path'), options)
  expect(status).toBe(9)
  expect(stderr).toContain('--no-such-option is not allowed in NODE_OPTIONS')
  expect(stderr).not.toContain('needs Node')
})

test('a Node that cannot be started is named with what it said', () => {
  const broken = '#!/bin/sh\necho "libatomic.so.1: cannot open" >&2\nexit 127\n'
  const root = install({ 'cli/main.ts': '', 'node_modules/.bin/node': broken })
  const { status, stderr } = run(join(root, 'bin/gslbd'), [], join(root, 'path'))
  expect(status).toBe(70)
  expect(stderr).toContain(`${root}/node_modules/.bin/node does not run: libatomic.so.1`)
})

test('an installation without its files says so', () => {
  const root = install({})
  const { status, stderr } = run(join(root, 'bin/gslbd'), [])
  expect(status).toBe(70)
  expect(stderr).toContain(`neither cli/main.ts nor dist/cli/main.js is in ${root}`)
})
