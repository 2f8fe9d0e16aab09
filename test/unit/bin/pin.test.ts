// The Node that is pinned: linked from where it is, and never taken for another.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { tempDir } from '#test/support/temp-dir.ts'

const source = join(import.meta.dirname, '../../../bin/node')

/** A checkout with a cache, and with an npm that says what it was asked and installs `made`. */
function checkout(made: string | null) {
  const root = tempDir('pin')
  cpSync(source, join(root, 'bin/node'), { recursive: true })
  const cache = join(root, 'cache')
  const tools = join(root, 'tools')
  mkdirSync(tools)
  const install =
    made === null
      ? ''
      : `mkdir -p node_modules/node-x/bin node_modules/node-x/include
printf '${made}' >node_modules/node-x/bin/node; chmod 755 node_modules/node-x/bin/node`
  const npm = join(tools, 'npm')
  writeFileSync(npm, `#!/bin/sh\necho "$@" >>${root}/asked\n${install}\n`)
  chmodSync(npm, 0o755)
  const PATH = `${tools}:${process.env['PATH'] ?? ''}`
  const pin = (env: Readonly<Record<string, string>> = { XDG_CACHE_HOME: cache }) =>
    spawnSync(join(root, 'bin/node/pin'), { encoding: 'utf8', env: { PATH, ...env } })
  const asked = () => readFileSync(join(root, 'asked'), 'utf8').split('\n').length - 1
  return { root, cache: join(cache, 'gslbd'), pin, asked }
}

test('Node is fetched once, without its headers, and linked', () => {
  const { root, cache, pin, asked } = checkout('one')
  for (let i = 0; i < 2; i++) expect(pin()).toMatchObject({ status: 0, stderr: '' })
  expect(asked()).toBe(1)
  const [folder = '', ...others] = readdirSync(cache)
  expect(others).toEqual([])
  expect(readdirSync(join(cache, folder))).toEqual(['bin'])
  const link = join(root, 'node_modules/.bin/node')
  expect(readlinkSync(link)).toBe(join(cache, folder, 'bin/node'))
  expect(readFileSync(link, 'utf8')).toBe('one')
})

test('where the cache cannot be written, Node is in the checkout', () => {
  const { root, pin } = checkout('one')
  expect(pin({ XDG_CACHE_HOME: '/dev/null' })).toMatchObject({ status: 0, stderr: '' })
  const link = readlinkSync(join(root, 'node_modules/.bin/node'))
  expect(dirname(dirname(dirname(link)))).toBe(join(root, 'node_modules/.cache'))
})

test('a cache that others may write is not used', () => {
  const { root, cache, pin } = checkout('one')
  mkdirSync(cache, { recursive: true })
  chmodSync(cache, 0o777)
  expect(pin()).toMatchObject({ status: 0, stderr: '' })
  const link = readlinkSync(join(root, 'node_modules/.bin/node'))
  expect(link.startsWith(join(root, 'node_modules/.cache'))).toBe(true)
})

test('another lock file is another Node', () => {
  const { root, cache, pin, asked } = checkout('one')
  pin()
  const lock = join(root, 'bin/node/package-lock.json')
  writeFileSync(lock, readFileSync(lock, 'utf8').replaceAll('26.', '27.'))
  expect(pin()).toMatchObject({ status: 0, stderr: '' })
  expect([asked(), readdirSync(cache).length]).toEqual([2, 2])
})

test('a machine without a pinned Node is told so, and nothing stays', () => {
  const { cache, pin } = checkout(null)
  const { status, stderr } = pin()
  expect([status, stderr]).toEqual([1, expect.stringContaining('no Node is pinned for ')])
  expect(readdirSync(cache)).toEqual([])
})

test('each pinned package has its checksum, and is of the version that is named', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(source, name), 'utf8')) as unknown
  const { optionalDependencies } = read('package.json') as {
    optionalDependencies: Readonly<Record<string, string>>
  }
  const { packages } = read('package-lock.json') as {
    packages: Readonly<Record<string, { version: string; integrity: string }>>
  }
  const locked = Object.entries(packages).slice(1)
  expect(locked.map(([path]) => path.replace('node_modules/', ''))).toEqual(
    Object.keys(optionalDependencies),
  )
  for (const [path, { version, integrity }] of locked) {
    expect(optionalDependencies[path.replace('node_modules/', '')]).toBe(version)
    expect(integrity).toMatch(/^sha512-.{88}$/)
  }
  // The tests run on it.
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([process.versions.node]))
})
