// A node after a while of work: something of each kind that has a screen.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { openPglite } from '#state/sql/database/open-pglite.ts'
import type { Backend } from './backend.ts'
import type { DashboardNode } from './dashboard-node.ts'
import type { Named } from './dashboard-scene.ts'
import { domainFiles, tellOfNodes } from './dashboard-fleet.ts'
import { gitEnvironment } from './git-sandbox.ts'
import { token } from './licences.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

/** The targets of addresses in lists. */
export interface World {
  readonly admin: { readonly email: string; readonly password: string }
  readonly pool: string
  readonly service: string
  readonly member: string
}

/**
 * Two days of counts, and calls of the audit log, before the node opens its database.
 *
 * @param calls numbered from 1, each half a minute before the next, the last one an hour ago
 * @returns when a call was, Unix milliseconds
 */
export async function fillDatabase(
  dataDir: string,
  calls: number,
): Promise<(call: number) => number> {
  const lastMs = Date.now() - hourMs
  const atOf = (call: number): number => lastMs - (calls - call) * 30_000
  const database = await openPglite(join(dataDir, 'database'))
  try {
    const hour = (ago: number): string =>
      new Date(Date.now() - ago * hourMs).toISOString().slice(0, 13)
    const agos = Array.from({ length: 48 }, (_, i) => i + 1)
    // One statement, since each one is flushed.
    await database.query(
      `insert into usage_hours
       select 'default', * from unnest($1::text[], $2::bigint[], $3::bigint[])`,
      [
        agos.map(hour),
        agos.map((ago) => Math.round(40_000 * (1.3 + Math.sin((ago * Math.PI) / 12)))),
        agos.map((ago) => 300 + (ago % 7) * 40),
      ],
    )
    await database.query(
      `insert into audit_entries
       select lpad(i::text, 12, '0'), $1::bigint - ($2::bigint - i) * 30000,
         (array['POST', 'PATCH', 'PUT', 'DELETE'])[1 + i % 4],
         '/api/v1/' || (array['pools', 'services', 'records', 'members'])[1 + i % 4] || '/' || i,
         lpad((i % 97)::text, 4, '0'), '192.0.2.' || i % 250,
         case when i % 29 = 0 then 409 else 200 end, 1 + i % 40, 'default', null
       from generate_series(1, $2) as i`,
      [lastMs, calls],
    )
    return atOf
  } finally {
    await database.close()
  }
}

/** Makes an object and returns its id. */
type Make = (path: string, body: object) => Promise<string>

/** Uses the API; kinds without a call are pushed. */
export async function fillNode(node: DashboardNode, backend: Backend): Promise<World> {
  const make: Make = async (path, body) => {
    const answer = await node.call<Named & { readonly error?: string }>('POST', path, body)
    const isMade = answer.status < 300
    expect([path, isMade ? '' : answer.body.error]).toEqual([path, ''])
    return answer.body.id
  }
  const put = async (path: string, body: object): Promise<void> => {
    const answer = await node.call<{ readonly error?: string }>('PUT', path, body)
    expect([path, answer.status, answer.body.error]).toEqual([path, answer.status, undefined])
  }
  const admin = { email: 'ann@example.com', password: 'correct horse battery' }
  await make('/auth/setup', admin)
  const exp = Math.round((Date.now() + 90 * dayMs) / 1_000)
  await make('/license', { token: token({ tier: 'enterprise', maxRps: 50_000, exp }) })
  const nameservers = [{ name: 'ns1.example.com.', addresses: ['192.0.2.53'] }]
  const soa = { mname: 'ns1.example.com.', rname: 'hostmaster.example.com.' }
  const zones = [
    { name: 'example.com.', nameservers, soa },
    { name: 'example.net.', nameservers, soa, dnssec: { enabled: true } },
  ]
  await put('/settings', { zones })
  // Pushed while nothing else commits, as a rollout does by itself.
  pushFiles(node)
  const pools = await fillPools(make, backend)
  const check = { type: 'tcp', port: backend.port, intervalMs: 500, timeoutMs: 400 }
  await put(`/pools/${pools.pool}/healthcheck`, check)
  const service = await fillServices(make, pools)
  await fillNames(make)
  await fillPlans(make, pools)
  await fillAccess(make)
  await measure(node)
  await tellOfNodes(node)
  await make('/records', {
    zone: 'example.com.',
    name: 'new',
    type: 'A',
    ttl: 60,
    values: ['192.0.2.80'],
  })
  return { admin, pool: pools.pool, service, member: pools.members[0]! }
}

interface Pools {
  readonly pool: string
  readonly spare: string
  readonly members: readonly string[]
}

/** The first member is up: nothing listens at the second one's address. */
const members = [
  ['fra1', 'DE', '127.0.0.1'],
  ['iad1', 'US', '127.0.0.2'],
  ['sin1', 'SG', '127.0.0.3'],
  ['gru1', 'BR', '127.0.0.4'],
] as const

async function fillPools(make: Make, backend: Backend): Promise<Pools> {
  const pool = await make('/pools', { name: 'shop' })
  const spare = await make('/pools', { name: 'shop-standby' })
  await make('/pools', { name: 'unused' })
  const ids: string[] = []
  for (const [name, region, ipAddress] of members) {
    const member = { name, region, ipAddress, port: backend.port, weight: 10 }
    const rumUrl = `https://${name}.example.com/ping`
    ids.push(await make(`/pools/${pool}/members`, { ...member, rumUrl }))
  }
  await make(`/pools/${spare}/members`, { ipAddress: '198.51.100.9', port: 443, region: 'FR' })
  await make(`/members/${ids[0]}/health-signal`, {
    ...{ source: 'synthetic-monitor', healthy: true, score: 0.9, ttl: 3_600 },
  })
  const rule = { cidr: '10.2.0.0/16', endpoint: '127.0.0.1', priority: 1 }
  await make(`/pools/${pool}/georules`, rule)
  return { pool, spare, members: ids }
}

async function fillServices(make: Make, { pool, spare }: Pools): Promise<string> {
  await make('/services', { name: 'api', domain: 'api.example.com.', poolId: spare, ttl: 60 })
  return make('/services', {
    ...{ name: 'shop', domain: 'shop.example.com.', poolId: pool, ttl: 30 },
    ...{ filterChain: ['rum', 'weighted-round-robin'], onAllDown: 'pool:shop-standby' },
  })
}

const records = [
  ['mail', 'A', ['192.0.2.25']],
  ['mail', 'AAAA', ['2001:db8::25']],
  ['@', 'MX', ['10 mail.example.com.']],
  ['@', 'TXT', ['"v=spf1 mx -all"']],
  ['_443._tcp.shop', 'TLSA', [`3 1 1 ${'0b9fa5a5'.repeat(8)}`]],
  ['docs', 'CNAME', ['pages.example.net.']],
] as const
const redirects = [
  {
    ...{ sourceFqdn: 'old.example.com', targetUrl: 'https://shop.example.com/new', code: 308 },
    ...{ preservePath: true, hstsMaxAge: 31_536_000 },
  },
  { sourceFqdn: 'go.example.com', targetUrl: 'https://example.com/' },
] as const
const wall = 'wall.example.com.'
const rules = [
  { triggerType: 'domain', triggerValue: 'malware.example', action: 'nxdomain', source: 'feed' },
  { triggerType: 'exact', triggerValue: 'ads.example', action: 'cname', actionTarget: wall },
  { triggerType: 'exact', triggerValue: 'good.malware.example', action: 'passthru' },
] as const
const challenge = '_acme-challenge.shop.example.com.'

async function fillNames(make: Make): Promise<void> {
  for (const [name, type, values] of records) {
    await make('/records', { zone: 'example.com.', name, type, ttl: 3_600, values })
  }
  for (const redirect of redirects) await make('/redirects', redirect)
  for (const rule of rules) await make('/rpz/rules', rule)
  await make('/dns/tsig-keys', { name: 'acme-client', scope: challenge })
  await make('/dns/txt-records', { name: challenge, value: 'gfj9Xq…Rg85nM', ttl: 60 })
}

async function fillPlans(make: Make, { spare, members }: Pools): Promise<void> {
  await make('/maintenance-windows', {
    ...{ resourceType: 'member', resourceId: members[3] },
    ...{ startAt: inMs(-hourMs), endAt: inMs(3 * hourMs) },
  })
  await make('/maintenance-windows', {
    ...{ resourceType: 'pool', resourceId: spare },
    ...{ startAt: inMs(dayMs), endAt: inMs(dayMs + 4 * hourMs) },
  })
  const steps = [10, 50, 100].map((weightPct) => ({ weightPct, holdSeconds: 3_600 }))
  const regressionPolicy = { minHealthScore: 0.8, minHealthyMembers: 1 }
  await make('/rollouts', { memberId: members[2], steps, regressionPolicy })
}

const people = [
  ['oda@example.com', 'operator', 'Oda Operator'],
  ['vic@example.com', 'viewer', 'Vic Viewer'],
  ['dee@example.com', 'dns-editor', ''],
] as const

/** Makes channels of alerts, roles and accounts. */
async function fillAccess(make: Make): Promise<void> {
  await make('/alerts', {
    ...{ name: 'on-call', kind: 'pagerduty', minSeverity: 'error', enabled: false },
    settings: { routingKey: 'r'.repeat(32) },
  })
  await make('/alerts', {
    ...{ name: 'team chat', kind: 'slack', enabled: false, conditions: ['held-commit', 'drift'] },
    settings: { url: 'https://hooks.example.com/services/T0/B0' },
  })
  await make('/rrl/allowlist', { cidr: '198.51.100.0/24', comment: 'a resolver of many people' })
  await make('/alerts/silences', {
    ...{ seconds: 7_200, condition: 'member-flapping', reason: 'the switch is being replaced' },
  })
  const permissions = ['record:read', 'record:write', 'service:read']
  await make('/roles', { name: 'dns-editor', permissions })
  for (const [email, role, displayName] of people) {
    await make('/users', { email, role, displayName, password: 'only looking around' })
  }
  await make('/tenants', { name: 'Partner & Sons', rpsLimit: 500 })
}

/** Reports like the script in people's pages, from three networks. */
async function measure({ origin }: DashboardNode): Promise<void> {
  for (const network of ['10.2.0', '10.2.1', '198.51.100']) {
    const samples = ['127.0.0.1', '127.0.0.2'].map((ip, i) => ({ ip, latencyMs: 20 + 30 * i }))
    const answer = await fetch(`${origin}/api/v1/rum/ingest`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-forwarded-for': `${network}.7` },
      body: JSON.stringify({ domain: 'shop.example.com', samples }),
    })
    expect(answer.status).toBe(200)
  }
}

const delivery = `apiVersion: gslb/v1
kind: Delivery
metadata: { name: main }
spec:
  waves:
    - { nodes: canary=true, hold: 10m }
    - { percent: 50, hold: 10m }
    - { percent: 100 }
`

/** Waves exist only in Git; ids of the domains must be known before. */
function pushFiles({ home }: DashboardNode): void {
  const checkout = join(home, 'checkout')
  const env = { PATH: process.env['PATH'], ...gitEnvironment }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: home, env })
  git('clone', '-q', join(home, 'data/config.git'), checkout)
  for (const [path, text] of [['deliveries/main.yaml', delivery] as const, ...domainFiles]) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), text)
  }
  git('-C', checkout, 'add', '.')
  git('-C', checkout, 'commit', '-qm', 'changes go out in three waves; two domains')
  git('-C', checkout, 'push', '-q', 'origin', 'HEAD')
}
