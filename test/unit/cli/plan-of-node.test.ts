// gslbd plan against a node: the commit that it answers from, and the health of its members.
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createNodeRum } from '#node/api/rum.ts'
import { unprobed } from '#ports/member-health.ts'
import type { ClientRegions } from '#ports/node-facts.ts'
import type { KnownHealth } from '#ports/member-health.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import { Exit } from '#system/process/command.ts'
import type { Plan } from '#judge/document/model.ts'
import {
  startConfigWorld,
  keyOf,
  recordsSettings,
  recordsZone,
} from '#test/support/config-world.ts'
import { rootKey } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { plainView } from '#test/support/api-ports.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import type { OperatorView } from '#ports/operator-view.ts'

const name = `www.${recordsZone}`
/** By address: what a node finds of it. */
const health = new Map<string, Partial<KnownHealth>>()
const status = { active: '' as string | null, head: '' }
/** Regions of clients; null: the node counts none. */
let regions: ClientRegions | null = null
const rum = new RumStore(systemClock)
/** Uid of a member that browsers measure: 16 octets as four words. */
let measured: Uint32Array
let world: ConfigWorld
let url: string
let box: ReturnType<typeof gitSandbox>
let repo: string
let removeBox: () => void

beforeAll(async () => {
  const node = { channel: 'main', seq: 1, serial: 1, digest: null, issuedAtMs: null }
  const swaps = { ageSeconds: null, expired: false, swapCount: 1, lastSwapMs: null, refused: null }
  const looked = {
    reason: null,
    note: null,
    diagnostics: [],
    lookedFromMs: 0,
    node: { ...node, ...swaps },
  }
  const view: OperatorView = {
    ...plainView,
    gitops: () => ({
      branch: 'main',
      accepted: status.active,
      sync: 'synced',
      ...status,
      ...looked,
    }),
  }
  const memberHealth = {
    node: 'n',
    of: ({ ipAddress }: { readonly ipAddress: string }) => ({
      ...unprobed('n'),
      ...health.get(ipAddress),
    }),
    onChange: () => () => undefined,
  }
  const facts = { uptimeSeconds: () => 1, webSocketClients: () => 0, clientRegions: () => regions }
  const measurements = createNodeRum(rum, () => undefined)
  const ports = { memberHealth, node: facts, rum: measurements, view }
  world = await startConfigWorld({ settings: recordsSettings, ports })
  for (const tenant of ['acme', 'zenith']) {
    const pool = tenant === 'acme' ? 'web' : 'others'
    const made = await world.call(keyOf(tenant), 'POST', '/pools', { name: pool })
    assert(made.status === 201, made.text)
    const last = tenant === 'acme' ? 1 : 9
    for (const ipAddress of [`192.0.2.${last}`, `192.0.2.${last + 1}`]) {
      const member = { ipAddress, port: 80 }
      const added = await world.call(
        ...([keyOf(tenant), 'POST', `/pools/${made.body.id}/members`, member] as const),
      )
      assert(added.status === 201, added.text)
      const id = Buffer.from(String(added.body.id).replaceAll('-', ''), 'hex')
      measured = new Uint32Array(Uint8Array.from(id).buffer)
    }
    if (tenant === 'zenith') continue
    const service = { name: 'www', domain: name, poolId: made.body.id, algorithm: 'failover' }
    const served = await world.call(keyOf(tenant), 'POST', '/services', service)
    assert(served.status === 201, served.text)
  }
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`
  box = gitSandbox((remove) => (removeBox = remove))
  box.git(box.path, 'clone', '-q', world.gitdir, 'repo')
  repo = box.at('repo')
})
afterAll(async () => {
  await world.close()
  removeBox()
})
beforeEach(() => {
  health.clear()
  status.active = status.head = box.git(repo, 'rev-parse', 'HEAD').trim()
})

const plan = (...more: readonly string[]) =>
  runCliWith({ GSLB_API_KEY: rootKey }, 'plan', repo, ...more)
const planOf = (out: string): Plan => JSON.parse(out) as Plan

test('the base is the commit that the node answers from', async () => {
  const before = status.active
  const same = await plan('--base', url)
  expect(same).toMatchObject({ exit: Exit.Ok, err: '' })
  expect(same.out).toContain(`base  ${url} (${before?.slice(0, 10)})`)
  expect(same.out).toContain('no answer differs')
  box.git(repo, 'commit', '-q', '--allow-empty', '-m', 'next')
  box.git(repo, 'rm', '-rq', 'tenants/acme/services')
  const { base, summary } = planOf((await plan('--base', url, '--format', 'json')).out)
  expect([base.commit, base.source, summary.names]).toEqual([before, url, 1])
  box.git(repo, 'reset', '-q', '--hard', 'HEAD~1')
})

test('a plan goes by the health that the node answers by', async () => {
  health.set('192.0.2.1', { healthy: false, score: 0 })
  health.set('192.0.2.9', { isWarming: true, rttMs: 7 })
  const told = await world.call(rootKey, 'GET', '/health/members')
  expect(told.body).toEqual({
    'acme/web/192.0.2.1': { healthy: false, score: 0, rttMs: 0 },
    'zenith/others/192.0.2.9': { healthy: false, score: 1, rttMs: 7 },
  })
  // A tenant is told nothing of others.
  const own = await world.call(keyOf('zenith'), 'GET', '/health/members')
  expect(Object.keys(own.body)).toEqual(['zenith/others/192.0.2.9'])
  const file = 'repo/tenants/acme/pools/web.yaml'
  const text = readFileSync(box.at(file), 'utf8')
  box.write(file, text.replace('192.0.2.2', '192.0.2.3'))
  const { out, exit } = await plan('--base', url, '--health', url, '--format', 'json')
  box.write(file, text)
  expect(exit).toBe(Exit.Ok)
  const { scenarios } = planOf(out)
  expect(scenarios.map((one) => [one.health, one.changes[0]?.movement?.ipv4.flows[0]])).toEqual([
    ['all-up', undefined],
    [
      'given',
      expect.objectContaining({
        from: { member: '192.0.2.2', pool: 'web', region: 'unknown' },
        to: { member: '192.0.2.3', pool: 'web', region: 'unknown' },
      }),
    ],
  ])
})

test('clients count by the queries that the node had, by country', async () => {
  const countries = [
    { country: 'DE', queries: 90 },
    { country: '', queries: 10 },
  ]
  regions = { hasDatabase: true, seconds: 60, sampled: 20, countries }
  const { out, exit } = await plan('--base', 'HEAD', '--traffic', url, '--format', 'json')
  const { weights, warnings } = planOf(out)
  expect([exit, weights]).toEqual([
    Exit.Ok,
    { by: 'traffic', source: `${url}/api/v1/client-regions`, seconds: 60, sampled: 20 },
  ])
  expect(warnings.join()).toContain('without --geoip the counts of countries')
})

test.each([
  ['counts nobody', null, 'does not count where clients are'],
  ['has no database', { hasDatabase: false, sampled: 0 }, 'it counts nobody: set geoip.dbPath'],
  ['has just begun', { hasDatabase: true, sampled: 0 }, 'has looked at no query yet'],
])('a node that %s gives no traffic, and it is said', async (_what, told, sentence) => {
  regions = told && { seconds: 0, countries: [], ...told }
  const { err, exit } = await plan('--base', 'HEAD', '--traffic', url)
  expect([exit, err]).toEqual([Exit.Usage, expect.stringContaining(sentence)])
})

test('clients count by what browsers reported to the node, by network', async () => {
  const traffic = ['--base', 'HEAD', '--traffic', `rum+${url}`]
  const nobody = await plan(...traffic)
  const sentence = `no browser has measured anything for ${url} lately`
  expect([nobody.exit, nobody.err]).toEqual([Exit.Usage, expect.stringContaining(sentence)])
  for (const host of [7, 8]) rum.record(Uint8Array.of(198, 51, 100, host), measured, 20, 1)
  rum.record(Uint8Array.of(203, 0, 113, 9), measured, 20, 1)
  const { out, err, exit } = await plan(...traffic, '--format', 'json')
  expect([exit, err]).toEqual([Exit.Ok, ''])
  const { weights, warnings } = planOf(out)
  const source = `${url}/api/v1/rum/networks`
  // A report that is older than no time at all counts for less than 1.
  expect(weights).toMatchObject({ by: 'traffic', source, seconds: null })
  expect([2, 3]).toContain(weights.sampled)
  expect(warnings).toEqual([`${source} counts no client of IPv6: they are weighted by addresses`])
})

test('a commit that waits, and one that the checkout does not have, are said', async () => {
  status.head = 'f'.repeat(40)
  const waiting = await plan('--base', url)
  expect(waiting.out).toContain('has seen ffffffffff')
  status.active = status.head
  const away = await plan('--base', url)
  expect(away).toMatchObject({ exit: Exit.Usage, out: '' })
  expect(away.err).toContain('this checkout does not have: "git fetch" the branch of the node')
  status.active = null
  expect((await plan('--base', url)).err).toContain('answers from no commit yet')
})

test('a server that is no node is reported without the key', async () => {
  const other = await startStandIn(() => ({ status: 200, body: [] }))
  for (const option of ['--base', '--health']) {
    const both = option === '--base' ? ['--base', other.url] : ['--base', 'HEAD', option, other.url]
    const { exit, err } = await plan(...both)
    expect([exit, err]).toEqual([Exit.Usage, expect.stringContaining('is it the API of gslbd?')])
    expect(err).not.toContain(rootKey)
  }
  const { err } = await plan('--base', 'http://user:secret@127.0.0.1')
  expect(err).toContain('holds no password')
  expect(err).not.toContain('secret')
})
