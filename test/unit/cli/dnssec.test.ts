// `gslbd dnssec` as a person calls it, over the key files of a data directory.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { recordOfKey } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { copyKeyOf } from '#node/signing/pull-keys.ts'
import { createKeyCopy } from '#server/signing/key-copy.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

function scene(env: Readonly<Record<string, string>> = {}, more = {}) {
  const folder = makeTempDir('dnssec-cli')
  onTestFinished(() => removeTempDir(folder))
  const settings = join(folder, 'gslbd.yaml')
  writeFileSync(settings, JSON.stringify({ dataDir: join(folder, 'data'), ...more }))
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

  test.each([[{}], [{ GSLB_SECRET_KEY: '01'.repeat(32) }]])(
    'whose private half is junk is not said to be sealed: %j',
    async (env) => {
      const { run, keys } = scene(env)
      await run('keygen', 'example.com.')
      const name = readdirSync(keys).find((file) => file.endsWith('.private'))!
      writeFileSync(join(keys, name), 'junk\n')
      expect((await run('status')).err).toMatch(/is no private key/)
    },
  )

  test.each([
    [{}, /\.private can be read by others than its owner: chmod 600 it$/m],
    [{ GSLB_SECRET_KEY: '01'.repeat(32) }, /^$/],
  ])('that others can read is said to be, unless it is sealed: %j', async (env, why) => {
    const { run, keys } = scene(env)
    await run('keygen', 'example.com.')
    const name = readdirSync(keys).find((file) => file.endsWith('.private'))!
    chmodSync(join(keys, name), 0o644)
    const status = await run('status')
    expect(status.exit).toBe(0)
    expect(status.err).toMatch(why)
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

describe('keys of the database, in the copy of the node', () => {
  const env = { GSLB_SECRET_KEY: '01'.repeat(32) }
  const zone = 'example.com.'
  const record = recordOfKey(zone, generateZoneKey(signingAlgorithm(13)!), 'csk', {
    ...{ createdMs: 1, publishedMs: 1, activeMs: 1, dsSubmittedMs: 2 },
  })
  const copied = (
    inEnv: Readonly<Record<string, string>>,
    key: Uint8Array,
    settings = {},
    has = record,
  ) => {
    const made = scene(inEnv, settings)
    createKeyCopy(join(made.keys, '../zone-keys.copy'), key, silentLog).write({
      ...{ revision: 1, records: [has] },
    })
    return made
  }
  const secretKey = Buffer.from(env.GSLB_SECRET_KEY, 'hex')

  test('are listed with its GSLB_SECRET_KEY', async () => {
    const { run } = copied(env, secretKey)
    expect((await run('status')).out).toContain(`${record.tag}`)
    expect((await run('ds', zone)).out).toContain(`DS ${record.tag} 13 2`)
  })

  test('are printed with a warning before the parent may have their DS', async () => {
    const early = { ...record, times: { ...record.times, dsSubmittedMs: null } }
    const told = await copied(env, secretKey, {}, early).run('ds', zone)
    expect([told.exit, told.err]).toEqual([0, expect.stringMatching(/^Do not give it/)])
    expect((await copied(env, secretKey).run('ds', zone)).err).toBe('')
  })

  test.each([
    ['none', {}],
    ['another one', { GSLB_SECRET_KEY: '02'.repeat(32) }],
  ])('with %s, nothing is listed, and no key is made beside', async (_what, inEnv) => {
    const { run, keys } = copied(inEnv, secretKey)
    for (const call of [['status'], ['ds', zone], ['keygen', zone]]) {
      const told = await run(...call)
      expect([told.exit, told.out], call.join(' ')).toEqual([1, ''])
      expect(told.err).toMatch(/zone-keys\.copy .*GSLB_SECRET_KEY/)
    }
    expect(existsSync(keys)).toBe(false)
  })

  test('are listed on a node of the role dns, with its token', async () => {
    const tokens = { GSLB_BUNDLE_TOKEN: 'a-token-of-the-fleet' }
    const dnsAlone = { roles: ['dns'], bundle: { urls: ['https://control.example/bundle'] } }
    const { run } = copied(tokens, copyKeyOf(tokens)!, dnsAlone)
    expect((await run('status')).out).toContain(`${record.tag}`)
  })
})

test('without a key, ds says so, and status has nothing to list', async () => {
  const { run } = scene()
  const none = await run('ds', 'example.com.')
  expect([none.exit, none.out]).toEqual([1, ''])
  expect(none.err).toMatch(/no key of example\.com\./)
  const listed = await run('status')
  expect([listed.exit, listed.err]).toEqual([0, ''])
  for (const said of [none.err, listed.out])
    expect(said).toContain('settings of the node with --set')
})

test('a zone that status does not need is said to be too much', async () => {
  expect((await scene().run('status', 'example.com.')).err).toContain('name none')
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
