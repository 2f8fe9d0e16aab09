// `gslbd why --url`: a running node is asked in place of its files, and says the same.
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PastAnswers } from '#questions/past/past-answers.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'
import { rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { MemoryJournals } from '#test/support/memory-journals.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { journalAt } from '#test/support/journals.ts'
import { viewOf } from '#test/support/config-view.ts'

const bundle = bundleOf({
  commit: 'c'.repeat(40),
  zones: [zone('example.com.')],
  pools: [pool(1, ['192.0.2.1'], { name: 'web' })],
  services: [service(1, 'www.example.com.', { pool: 0, algorithm: 'failover' })],
})
const at = '2027-03-01T03:05:00Z'
let past: PastAnswers
let world: ConfigWorld
let url: string
let dataDir: string

/** From 03:00 to 03:10 one bundle answers. */
beforeAll(async () => {
  dataDir = makeTempDir('ask-node')
  const time = new FakeTime(Date.UTC(2027, 2, 1, 3))
  const journal = journalAt(dataDir, time)
  new BundleStore(dataDir).add(bundle.digest, bundle.bytes)
  const head = { digest: bundle.digest, commit: 'c'.repeat(40), seq: 1 }
  journal.serves(head, bundle, createRoutingState(bundle, 1))
  journal.settled()
  time.pass(600_000)
  await journal.stop()
  past = new PastAnswers({
    ...{ dataDir, nodeName: 'fra1', isAnswering: true, journal, clock: time.clock },
    geo: { status: () => [], buffers: noGeoBuffers },
    copies: { journals: new MemoryJournals(), exists: () => false },
    config: viewOf(),
  })
  world = await startConfigWorld({ tenants: ['default'], ports: { past } })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await past.close()
  await world.close()
  removeTempDir(dataDir)
})

const env = { GSLB_API_KEY: rootKey }
const why = (...more: readonly string[]) =>
  runCliWith(env, 'why', 'www.example.com.', '--client', '203.0.113.9', ...more)

test('a node says over its API what its files say', async () => {
  const both = async (...form: readonly string[]) => {
    const there = await why('--at', at, '--url', url, '--node', 'fra1', ...form)
    expect([there.exit, there.err]).toEqual([0, ''])
    const here = await why('--at', at, '--data-dir', dataDir, ...form)
    return { there: there.out, here: here.out }
  }
  const text = await both()
  expect(text.there).toBe(text.here)
  expect(text.there).toContain('answer    192.0.2.1, TTL 60')
  const json = await both('--json')
  const told = JSON.parse(json.there) as object
  expect(told).toMatchObject({ isCertain: true, records: ['www.example.com. 60 IN A 192.0.2.1'] })
  expect(JSON.parse(json.here)).toMatchObject(told)
})

test('a node without the knowledge says so', async () => {
  const { exit, err } = await why('--at', '2027-03-01T02:00:00Z', '--url', url)
  expect([exit, err]).toEqual([1, expect.stringContaining('is before the journal')])
})

test('a node that has no such name is not said to lack anything else', async () => {
  const body = { error: 'there is no such name' }
  const standIn = await startStandIn(() => ({ status: 404, body }))
  const { exit, err } = await why('--at', at, '--url', standIn.url)
  expect([exit, err]).toEqual([
    1,
    `gslbd why: ${standIn.url}/api/v1/why: 404 there is no such name\n`,
  ])
})

test('another node is asked at its own API', async () => {
  const { exit, err } = await why('--at', at, '--url', url, '--node', 'fra2')
  expect(exit).toBe(1)
  expect(err).toContain('ask the API of fra2')
  expect(err).toMatch(/give --url the address of that|the nodes that .* knows are/)
})

test('a node is asked about at the API of GSLB_API_URL', async () => {
  const at0 = ['why', 'www.example.com.', '--client', '203.0.113.9', '--at', at]
  const { exit, out } = await runCliWith({ ...env, GSLB_API_URL: url }, ...at0, '--node', 'fra1')
  expect([exit, out]).toEqual([0, expect.stringContaining('answer    192.0.2.1, TTL 60')])
})

test('a node that nobody knows is told apart from one that must be asked itself', async () => {
  const standIn = await startStandIn(({ path }) =>
    path === '/api/v1/why'
      ? { status: 400, body: { error: 'node: ask the API of x' } }
      : { status: 200, body: [{ name: 'fra1' }, { name: 'fra2\u001b[2J' }] },
  )
  const unknown = await why('--at', at, '--url', standIn.url, '--node', 'fra9')
  expect(unknown.err).toContain(`the nodes that ${standIn.url} knows are fra1, fra2?[2J`)
  const known = await why('--at', at, '--url', standIn.url, '--node', 'fra1')
  expect(known.err).toContain('if fra1 answers DNS and has an API, give --url the address of that')
})

test('text from a server cannot move the cursor', async () => {
  const body = { text: 'node      a\u001b[2J\nanswer\n', name: 'x.' }
  const standIn = await startStandIn(() => ({ status: 200, body }))
  const { exit, out } = await why('--at', at, '--url', standIn.url)
  expect([exit, out]).toEqual([0, 'node      a?[2J\nanswer\n'])
})

test.each<readonly [string, readonly string[], string]>([
  ['files', ['--url', 'http://127.0.0.1:1', '--data-dir', '/x'], 'leave one out'],
  ['a node and files', ['--node', 'fra1', '--data-dir', '/x'], 'leave one out'],
  ['no address', ['--url', 'fra1'], 'is no address of an API'],
])('%s: wrong call', async (_what, more, sentence) => {
  const { exit, err } = await why('--at', at, ...more)
  expect([exit, err]).toEqual([2, expect.stringContaining(sentence)])
})
