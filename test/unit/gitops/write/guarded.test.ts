// What one request may remove without a word, and what other nodes make of the commit.
import assert from 'node:assert/strict'
import { onTestFinished, test } from 'vitest'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import type { Operation, WriteRequest } from '#config/operation.ts'
import { startConfigWorld, keyOf, rootKey } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { reconcileBench } from '#test/support/reconcile-bench.ts'

const count = 4
const actor = { name: 'test', address: 'test@users.gslbd' }
const target = (i: number) => ({ tenant: 'acme', name: `s${i}` })
const remove = (i: number): Operation => ({ verb: 'delete', kind: 'Service', target: target(i) })

async function world(): Promise<ConfigWorld> {
  const made = await startConfigWorld()
  onTestFinished(() => made.close())
  const operations = Array.from({ length: count }, (_, i): Operation => {
    const spec = { domain: `s${i}.example.com.` }
    return { verb: 'create', kind: 'Service', ...target(i), spec }
  })
  const written = await made.control.write({ requestId: 'first', actor, operations })
  assert(written.ok, JSON.stringify(written))
  return made
}

const request = (operations: readonly Operation[], override?: string): WriteRequest => ({
  requestId: 'request',
  actor,
  operations,
  ...(override === undefined ? {} : { override }),
})

test('a request that removes too much is refused with what it would remove', async () => {
  const { control, git } = await world()
  const before = git('rev-parse', 'main')
  const refused = await control.write(request([remove(0), remove(1)]))
  assert(!refused.ok)
  assert.equal(refused.error.code, 'guarded')
  assert.match(
    refused.error.message,
    /remove 2 of 4 names \(s0\.example\.com\., s1\.example\.com\.\)/,
  )
  assert.equal(git('rev-parse', 'main'), before)
  const done = await control.write(request([remove(0), remove(1)], 'both were\nmoved'))
  assert(done.ok, JSON.stringify(done))
  assert.equal(
    git('log', '-1', '--format=%(trailers:key=Gslb-Override)', 'main'),
    'Gslb-Override: both were moved',
  )
})

test('a dry run is refused as the write would be, and permitted as it would be', async () => {
  const { control, git } = await world()
  const before = git('rev-parse', 'main')
  const removal = request([remove(0), remove(1)])
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

test('a name that another service of the request takes over stays', async () => {
  const { control } = await world()
  const patch = (i: number, domain: string): Operation => ({
    verb: 'update',
    kind: 'Service',
    target: target(i),
    patch: { domain },
  })
  const done = await control.write(
    request([patch(0, 's9.example.com.'), patch(1, 'S0.example.com.')]),
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
  const all = Array.from({ length: count }, (_, i) => control.write(request([remove(i)])))
  for (const done of await Promise.all(all)) assert(done.ok, JSON.stringify(done))
  const status = await away.check()
  assert.deepEqual([status.sync, status.accepted?.commit], ['synced', git('rev-parse', 'main')])
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
