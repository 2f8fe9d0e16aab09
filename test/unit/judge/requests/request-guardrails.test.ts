// Tests how many names a request may remove without an override, and how other nodes judge its
// commit.
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { parentDsPathOf, writeParentDs } from '#gitops/guard/parent-ds.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import type { Operation } from '#config/operation.ts'
import {
  keyOf,
  recordsSettings,
  recordsZone,
  rootKey,
  startConfigWorld,
  writeRequest,
} from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { reconcileBench } from '#test/support/reconcile-bench.ts'
import { onlyLong } from '#test/support/lane.ts'

const count = 4
const target = (i: number) => ({ tenant: 'acme', name: `s${i}` })
const remove = (i: number): Operation => ({ verb: 'delete', kind: 'Service', target: target(i) })

/** @param isOld somebody vouched for what was done so far: the names count as old */
async function world({ isOld = false } = {}): Promise<ConfigWorld> {
  const made = await startConfigWorld()
  onTestFinished(() => made.close())
  const operations = Array.from({ length: count }, (_, i): Operation => {
    const spec = { domain: `s${i}.example.com.` }
    return { verb: 'create', kind: 'Service', ...target(i), spec }
  })
  const first = writeRequest(operations, isOld ? 'the beginning' : undefined)
  const written = await made.control.write(first)
  assert(written.ok, JSON.stringify(written))
  return made
}

test('a request that removes too much is refused with what it would remove', async () => {
  const { control, git } = await world()
  const before = git('rev-parse', 'main')
  const refused = await control.write(writeRequest([remove(0), remove(1)]))
  assert(!refused.ok)
  assert.equal(refused.error.code, 'guarded')
  assert.match(
    refused.error.message,
    /remove 2 of 4 names \(s0\.example\.com\., s1\.example\.com\.\)/,
  )
  assert.equal(git('rev-parse', 'main'), before)
  const done = await control.write(writeRequest([remove(0), remove(1)], 'both were\nmoved'))
  assert(done.ok, JSON.stringify(done))
  assert.equal(
    git('log', '-1', '--format=%(trailers:key=Gslb-Override)', 'main'),
    'Gslb-Override: both were moved',
  )
})

onlyLong(() => {
  test('a dry run is refused or permitted as the write would be', async () => {
    const { control, git } = await world()
    const before = git('rev-parse', 'main')
    const removal = writeRequest([remove(0), remove(1)])
    const [dry, real] = [
      await control.write({ ...removal, isDryRun: true }),
      await control.write(removal),
    ]
    assert.equal(!dry.ok && dry.error.code, 'guarded')
    assert.deepEqual(dry, real)
    const meant = await control.write({ ...removal, override: 'moved', isDryRun: true })
    assert(meant.ok, JSON.stringify(meant))
    assert.equal(git('rev-parse', 'main'), before)
  })
})

test('a name that another service of the request takes over stays', async () => {
  const { control } = await world()
  const patch = (i: number, domain: string): Operation => ({
    verb: 'update',
    kind: 'Service',
    target: target(i),
    patch: { domain },
  })
  const done = await control.write(
    writeRequest([patch(0, 's9.example.com.'), patch(1, 'S0.example.com.')]),
  )
  assert(done.ok, JSON.stringify(done))
})

test('requests for one service each are done together; a node that was away follows', async () => {
  const { control, gitdir, git } = await world()
  const box = gitSandbox()
  const away = reconcileBench({
    gitdir,
    dataDir: box.at('away'),
    allowedSignersPath: '',
    requireSignature: false,
    compiler: createCompilePort(),
  })
  assert.equal((await away.check()).sync, 'synced')
  const all = Array.from({ length: count }, (_, i) => control.write(writeRequest([remove(i)])))
  for (const done of await Promise.all(all)) assert(done.ok, JSON.stringify(done))
  const status = await away.check()
  assert.deepEqual([status.sync, status.accepted?.commit], ['synced', git('rev-parse', 'main')])
})

test('many requests may not remove what one may not; an override starts anew', async () => {
  const { control, git } = await world({ isOld: true })
  const one = await control.write(writeRequest([remove(0)]))
  assert(one.ok, JSON.stringify(one))
  const before = git('rev-parse', 'main')
  const dry = await control.write({ ...writeRequest([remove(1)]), isDryRun: true })
  const real = await control.write(writeRequest([remove(1)]))
  assert(!real.ok)
  assert.deepEqual([dry, real.error.code], [real, 'guarded'])
  assert(
    real.error.message.startsWith(
      'This would remove 2 of 4 names (s0.example.com., s1.example.com.) within 10 minutes, ' +
        'together with earlier requests, more than guardrails.removedNames permits. If that is ' +
        'meant, send it again with the header X-Gslb-Override: REASON',
    ),
    real.error.message,
  )
  assert.equal(git('rev-parse', 'main'), before)
  const meant = await control.write(writeRequest([remove(1)], 'moved'))
  assert(meant.ok, JSON.stringify(meant))
  assert((await control.write(writeRequest([remove(2)]))).ok, 'one of the two that are left')
  const last = await control.write(writeRequest([remove(3)]))
  assert.equal(!last.ok && last.error.code, 'guarded')
})

test('the requests of a shared commit that would remove too much are refused', async () => {
  const { control } = await world({ isOld: true })
  const all = Array.from({ length: count }, (_, i) => control.write(writeRequest([remove(i)])))
  const done = await Promise.all(all)
  assert.deepEqual(
    done.map(({ ok }) => ok),
    [true, false, false, false],
  )
})

onlyLong(() => {
  test('a name that is back, or was not there before, is not counted', async () => {
    const { control } = await world({ isOld: true })
    const create = (i: number): Operation => {
      return {
        verb: 'create',
        kind: 'Service',
        ...target(i),
        spec: { domain: `s${i}.example.com.` },
      }
    }
    for (const operation of [remove(0), create(0), remove(0), create(0), create(9), remove(9)]) {
      const done = await control.write(writeRequest([operation]))
      assert(done.ok, JSON.stringify(done))
    }
    assert((await control.write(writeRequest([remove(1)]))).ok)
  })
})

onlyLong(() => {
  test('a pool that goes ends the answers of its services, which counts', async () => {
    const { control, call } = await world()
    const spec = { healthCheck: { type: 'tcp' } }
    const pool = { tenant: 'acme', name: 'web' }
    const operations: Operation[] = [{ verb: 'create', kind: 'Pool', ...pool, spec }]
    for (const i of [0, 1]) {
      operations.push({
        verb: 'update',
        kind: 'Service',
        target: target(i),
        patch: { pool: 'web' },
      })
    }
    const made = await control.write(writeRequest(operations, 'from here on'))
    assert(made.ok, JSON.stringify(made))
    const list = (await call(rootKey, 'GET', '/pools')).list
    const path = `/pools/${list[0]?.id}`
    for (const query of ['?dryRun=true', '']) {
      const refused = await call(rootKey, 'DELETE', `${path}${query}`)
      assert.equal(refused.status, 409)
      assert.match(
        refused.body.error,
        /remove 2 of 4 names \(s0\.example\.com\. left without a pool, s1\.example\.com\. left/,
      )
    }
    const byTenant = await call(keyOf('acme'), 'DELETE', path)
    assert.equal(byTenant.status, 409)
    assert.match(byTenant.body.error, /more names within 10 minutes than the guardrails/)
    const header = { 'x-gslb-override': 'closing' }
    assert.equal((await call(rootKey, 'DELETE', path, undefined, header)).status, 204)
  })
})

onlyLong(() => {
  test('a name that loses its pool, and then its service, is one name', async () => {
    const { control } = await world()
    const pool = { tenant: 'acme', name: 'web' }
    const set = (i: number, to: string | null): Operation => {
      return { verb: 'update', kind: 'Service', target: target(i), patch: { pool: to } }
    }
    const made: Operation = { verb: 'create', kind: 'Pool', ...pool, spec: {} }
    const old = await control.write(
      writeRequest([made, set(0, 'web'), set(1, 'web')], 'from here on'),
    )
    assert(old.ok, JSON.stringify(old))
    for (const operation of [set(0, null), remove(0)]) {
      assert((await control.write(writeRequest([operation]))).ok)
    }
    const second = await control.write(writeRequest([set(1, null)]))
    assert.match(second.ok ? '' : second.error.message, /2 of 4 names \(s0\.[^ ]*, s1\.[^ ]* left/)
  })
})

test('the reason in the header X-Gslb-Override is for system administrators', async () => {
  const { call, git } = await world()
  const [service] = (await call(rootKey, 'GET', '/services')).list
  const path = `/services/${service?.id}`
  const header = { 'x-gslb-override': 'moved away' }
  const byTenant = await call(keyOf('acme'), 'DELETE', path, undefined, header)
  assert.equal(byTenant.status, 403)
  assert.match(byTenant.body.error, /for system administrators/)
  const empty = await call(rootKey, 'DELETE', path, undefined, { 'x-gslb-override': ' ' })
  assert.equal(empty.status, 400)
  assert.equal((await call(rootKey, 'DELETE', path, undefined, header)).status, 204)
  assert.match(git('log', '-1', '--format=%B', 'main'), /^Gslb-Override: moved away$/m)
})

/** Four balanced names and 16 with texts, which count as old. */
async function mixedWorld(): Promise<ConfigWorld> {
  const made = await startConfigWorld({ settings: recordsSettings })
  onTestFinished(() => made.close())
  const services = Array.from({ length: count }, (_, i): Operation => {
    const spec = { domain: `s${i}.${recordsZone}` }
    return { verb: 'create', kind: 'Service', ...target(i), spec }
  })
  const records = Array.from({ length: 16 }, (_, i) => {
    return { name: `t${i}`, type: 'TXT', values: ['text'] }
  })
  const spec = { zone: recordsZone, records }
  const file: Operation = { verb: 'create', kind: 'Records', tenant: 'acme', name: 'static', spec }
  const written = await made.control.write(writeRequest([...services, file], 'the beginning'))
  assert(written.ok, JSON.stringify(written))
  return made
}

onlyLong(() => {
  test('static names do not hide the loss of balanced ones', async () => {
    const { control } = await mixedWorld()
    const refused = await control.write(writeRequest([remove(0), remove(1)]))
    assert.match(
      refused.ok ? '' : refused.error.message,
      /would remove 2 of 4 balanced names \(s0\.records\.example\., s1\.records\.example\.\), more/,
    )
    assert((await control.write(writeRequest([remove(0)]))).ok)
    const second = await control.write(writeRequest([remove(1)]))
    assert.match(
      second.ok ? '' : second.error.message,
      /2 of 4 balanced names .* within 10 minutes/,
    )
  })
})

onlyLong(() => {
  test('records that go one after the other are counted like services', async () => {
    const { call } = await mixedWorld()
    const { list } = await call(rootKey, 'GET', '/records')
    const statuses: number[] = []
    let last = ''
    for (const { id } of list.slice(0, 6)) {
      const { status, body } = await call(rootKey, 'DELETE', `/records/${id}`)
      statuses.push(status)
      last = body.error
    }
    // Five of the 16 names with records are 31 percent.
    assert.deepEqual(statuses, [204, 204, 204, 204, 409, 409])
    assert.match(last, /would remove 5 of 16 names with records \(t.* within 10 minutes/)
  })
})

onlyLong(() => {
  test('a name that keeps other records, or changes its type, is no loss', async () => {
    const { call } = await mixedWorld()
    const body = { zone: recordsZone, type: 'MX', values: ['10 mail.example.net.'] }
    for (let i = 0; i < 7; i++) {
      const made = await call(rootKey, 'POST', '/records', { ...body, name: `t${i}` })
      assert.equal(made.status, 201, made.text)
    }
    const { list } = await call(rootKey, 'GET', '/records?type=TXT')
    const shared = list.filter((one) => /^t[0-6](\.|$)/.test(one.name))
    assert.equal(shared.length, 7)
    for (const { id, name } of shared) {
      assert.equal((await call(rootKey, 'DELETE', `/records/${id}`)).status, 204, name)
    }
  })
})

const signedSettings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - { name: signed.test., nameservers: [{ name: ns1.example.net. }], dnssec: { enabled: true } }
`
const zonesPatch = (dnssec: object) => {
  return { zones: [{ name: 'signed.test.', nameservers: [{ name: 'ns1.example.net.' }], dnssec }] }
}
const unsigned = zonesPatch({ enabled: false })
const otherAlgorithm = zonesPatch({ enabled: true, algorithm: 'ed25519' })
const ofOld = '12345 13 2 ab'

test.each([
  ['signing ends below a DS', [ofOld], false, unsigned, /sign zone signed\.test\. no more, below/],
  ['another algorithm, keys in files', [ofOld], false, otherAlgorithm, /by ed25519 in the place/],
  ['another algorithm, keys that roll', [ofOld], true, otherAlgorithm, null],
  ['signing ends, no DS', [], false, unsigned, null],
  ['other settings', [ofOld], false, { guardrails: { removedNames: 40 } }, null],
])('a request may not leave a DS at a parent behind: %s', async (_, ds, rolls, patch, refusal) => {
  const made = await startConfigWorld({ settings: signedSettings })
  onTestFinished(() => made.close())
  const path = parentDsPathOf(dirname(made.gitdir))
  writeParentDs(path, new Map([['signed.test.', { ds, rolls }]]))
  const before = made.git('rev-parse', 'main')
  const answer = await made.call(rootKey, 'PUT', '/settings', patch)
  if (refusal === null) return assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.status, 409, answer.text)
  assert.match(answer.body.error, refusal)
  assert.match(answer.body.error, /^This would .* First take the DS away at the parent/)
  assert.equal(made.git('rev-parse', 'main'), before)
  const header = { 'x-gslb-override': 'nobody validates' }
  assert.equal((await made.call(rootKey, 'PUT', '/settings', patch, header)).status, 200)
})
