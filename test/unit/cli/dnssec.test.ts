// `gslbd dnssec` as a person calls it, over the key files of a data directory.
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCliWith } from '#test/support/run-cli.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

function scene(env: Readonly<Record<string, string>> = {}) {
  const folder = makeTempDir('dnssec-cli')
  onTestFinished(() => removeTempDir(folder))
  const settings = join(folder, 'gslbd.yaml')
  writeFileSync(settings, JSON.stringify({ dataDir: join(folder, 'data') }))
  mkdirSync(join(folder, 'data'))
  const run = (...args: string[]) => runCliWith(env, 'dnssec', ...args, '--settings', settings)
  return { run, keys: join(folder, 'data/dnssec') }
}

const ds = (algorithm: number) =>
  new RegExp(`^example\\.com\\. IN DS \\d+ ${algorithm} 2 [0-9a-f]{64}$`, 'im')

describe('a key', () => {
  test.each([
    [[], 13],
    [['--algorithm', 'ed25519'], 15],
  ])('is made by keygen %j, whose private half only its owner reads', async (more, algorithm) => {
    const { run, keys } = scene()
    const made = await run('keygen', 'Example.COM', ...more)
    expect([made.exit, made.err]).toEqual([0, ''])
    expect(made.out).toMatch(ds(algorithm))
    const files = readdirSync(keys).filter((name) => /^K/.test(name))
    expect(files.map((name) => name.replace(/^K\S+\.(\w+)$/, '$1')).toSorted()).toEqual([
      'key',
      'private',
    ])
    const secret = files.find((name) => name.endsWith('.private'))!
    expect(statSync(join(keys, secret)).mode & 0o777).toBe(0o600)
  })

  test('is printed again as the DS record of its zone, and listed', async () => {
    const { run } = scene()
    const [line = ''] = ds(13).exec((await run('keygen', 'example.com.')).out) ?? []
    expect((await run('ds', 'example.com')).out).toContain(line)
    const listed = await run('status')
    expect(listed.exit).toBe(0)
    expect(listed.out).toContain('example.com.')
    expect(listed.out).toContain(line.split(' ')[3])
  })

  test('is not made where there is one', async () => {
    const { run, keys } = scene()
    await run('keygen', 'example.com.')
    const before = readdirSync(keys)
    const again = await run('keygen', 'example.com.')
    expect([again.exit, again.out]).toEqual([1, ''])
    expect(again.err).toMatch(/example\.com\./)
    expect(readdirSync(keys)).toEqual(before)
  })

  test('that is sealed by a secret cannot be used with another one, or none', async () => {
    const one = { GSLB_SECRET_KEY: '01'.repeat(32) }
    const made = scene(one)
    await made.run('keygen', 'example.com.')
    for (const env of [{}, { GSLB_SECRET_KEY: '02'.repeat(32) }]) {
      const other = scene(env)
      mkdirSync(other.keys)
      for (const name of readdirSync(made.keys)) {
        writeFileSync(join(other.keys, name), readFileSync(join(made.keys, name)), { mode: 0o600 })
      }
      const status = await other.run('status')
      expect(status.exit).toBe(1)
      expect(`${status.out}${status.err}`).toMatch(/example\.com\./)
      expect((await other.run('ds', 'example.com.')).exit).toBe(1)
    }
    expect((await made.run('status')).exit).toBe(0)
  })

  test('whose private half is away is said to be', async () => {
    const { run, keys } = scene()
    await run('keygen', 'example.com.')
    const name = readdirSync(keys).find((file) => file.endsWith('.private'))!
    renameSync(join(keys, name), join(keys, `${name}.away`))
    const status = await run('status')
    expect(status.exit).toBe(1)
    expect(`${status.out}${status.err}`).toContain('private')
  })
})

test('without a key, ds says so, and status has nothing to list', async () => {
  const { run } = scene()
  const none = await run('ds', 'example.com.')
  expect([none.exit, none.out]).toEqual([1, ''])
  expect(none.err).toMatch(/no key of example\.com\./)
  expect((await run('status')).exit).toBe(0)
})

test.each([
  [['keygen']],
  [['ds']],
  [['ds', 'a..b']],
  [['status', 'example.com.']],
  [['keygen', 'example.com.', 'example.net.']],
  [['keygen', 'example.com.', '--algorithm', 'rsa']],
  [['sing', 'example.com.']],
])('a wrong call: %j', async (args) => {
  const { run } = scene()
  expect((await run(...args)).exit).toBe(2)
})
