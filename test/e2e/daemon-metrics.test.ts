// Tests the counts of a running node, and that metrics, health and API can be turned off.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHttpBackend } from '#test/support/backend.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { exchangeUdp, isDroppedUdp } from '#test/support/dns/client.ts'
import { query } from '#test/support/dns/message.ts'
import { listeningPorts } from '#test/support/listening-ports.ts'
import { poolPath, serviceYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
let site: Site
let backend: Awaited<ReturnType<typeof startHttpBackend>>

beforeAll(async () => {
  site = await Site.make('metrics')
  backend = await startHttpBackend()
  const http = `type: http, port: ${backend.port}, httpPath: /healthz`
  const check = `{ ${http}, intervalMs: 2000, timeoutMs: 2000 }`
  site.write(
    poolPath,
    `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  healthCheck: ${check}
  members:
    - { name: a, ipAddress: 127.0.0.1, port: 80 }
    - { name: b, ipAddress: 127.0.0.9, port: 80 }
`,
  )
  const pool = site.write.bind(site)
  pool(
    'tenants/default/pools/none.yaml',
    `apiVersion: gslb/v1
kind: Pool
metadata: { name: none }
spec: { members: [{ name: a, ipAddress: 192.0.2.1, port: 80, enabled: false }] }
`,
  )
  pool('tenants/default/services/none.yaml', serviceYaml('none.example.com.', 'none', 'none'))
  await site.commit('probed')
  await site.push()
})
afterAll(async () => {
  await backend.close()
  site.remove()
})

async function run(): Promise<DaemonProcess> {
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first bundle', async () => {
    const [line = ''] = await daemon.answers('www.example.com. A')
    return line.includes(' IN A ')
  })
  return daemon
}

describe('the counters of queries', () => {
  let daemon: DaemonProcess
  beforeAll(async () => {
    daemon = await run()
  })
  afterAll(() => daemon.stop())

  const server = () => ({ host: '127.0.0.1', port: daemon.dnsPort })
  /** Which counters moved since `before`, and by how much. */
  async function movedSince(before: ReadonlyMap<string, number>): Promise<Record<string, number>> {
    const moved: Record<string, number> = {}
    for (const [name, value] of await daemon.metrics()) {
      if (!name.startsWith('gslbd_dns_')) continue
      const by = value - (before.get(name) ?? 0)
      if (by !== 0) moved[name.slice('gslbd_dns_'.length)] = by
    }
    return moved
  }

  const rows = [
    [
      'three questions for A over UDP',
      async () => {
        for (let i = 0; i < 3; i++) await daemon.answers('www.example.com. A')
      },
      {
        'queries_total{transport="udp"}': 3,
        'responses_total{rcode="NOERROR"}': 3,
        'responses_by_type_total{qtype="A"}': 3,
      },
    ],
    [
      'one over TCP',
      () => daemon.answers('www.example.com. A', { tcp: true }),
      {
        'queries_total{transport="tcp"}': 1,
        'responses_total{rcode="NOERROR"}': 1,
        'responses_by_type_total{qtype="A"}': 1,
      },
    ],
    [
      'a name that does not exist',
      () => daemon.answers('nowhere.example.com. AAAA'),
      {
        'queries_total{transport="udp"}': 1,
        'responses_total{rcode="NXDOMAIN"}': 1,
        'responses_by_type_total{qtype="AAAA"}': 1,
      },
    ],
    [
      'a name of others, for a type that is not known here',
      () => daemon.answers('example.net. TLSA'),
      {
        'queries_total{transport="udp"}': 1,
        'responses_total{rcode="REFUSED"}': 1,
        'responses_by_type_total{qtype="other"}': 1,
      },
    ],
    [
      'a pool without a member that could answer',
      () => daemon.answers('none.example.com. A'),
      {
        'queries_total{transport="udp"}': 1,
        'responses_total{rcode="NOERROR"}': 1,
        'responses_by_type_total{qtype="A"}': 1,
        no_candidate_total: 1,
      },
    ],
    [
      'a response where a query should be, and a query behind it',
      () =>
        isDroppedUdp(
          server(),
          query('www.example.com. A', { qr: true, id: 1 }),
          query('www.example.com. A', { id: 2 }),
        ),
      {
        'queries_total{transport="udp"}': 2,
        'responses_total{rcode="NOERROR"}': 1,
        'responses_by_type_total{qtype="A"}': 1,
        dropped_total: 1,
      },
    ],
    [
      'an opcode that is not implemented',
      () => exchangeUdp(server(), query('www.example.com. A', { opcode: 2 })),
      {
        'queries_total{transport="udp"}': 1,
        'responses_total{rcode="NOTIMP"}': 1,
        'responses_by_type_total{qtype="other"}': 1,
      },
    ],
  ] as const

  for (const [what, act, expected] of rows) {
    test(`${what} moves exactly its counters`, async () => {
      const queries = Object.entries(expected)
        .filter(([name]) => name.startsWith('queries_total'))
        .reduce((sum, [, count]) => sum + count, 0)
      const cookies = { 'cookies_total{cookie="none"}': queries }
      const before = await daemon.metrics()
      await act()
      // A query is counted when its answer has been sent.
      await expect.poll(() => movedSince(before)).toEqual({ ...expected, ...cookies })
    })
  }

  test('the queries of all threads add up to the queries of both transports', async () => {
    const metrics = await daemon.metrics()
    const sum = (prefix: string): number =>
      [...metrics].reduce((all, [name, n]) => (name.startsWith(prefix) ? all + n : all), 0)
    expect(sum('gslbd_thread_queries_total')).toBe(sum('gslbd_dns_queries_total'))
  })

  test('head, accepted and active are one commit, the digest too', async () => {
    const head = await site.git('rev-parse', 'HEAD')
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    const metrics = await daemon.metrics()
    for (const stage of ['head', 'accepted', 'active']) {
      expect(metrics.get(`gslbd_gitops_commit_info{stage="${stage}",commit="${head}"}`)).toBe(1)
    }
    const { node } = await daemon.gitops()
    expect(metrics.get(`gslbd_bundle_info{digest="${node.digest}"}`)).toBe(1)
    expect(metrics.get('gslbd_bundle_expired')).toBe(0)
    expect(metrics.get('gslbd_gitops_sync_state{state="synced"}')).toBe(1)
    expect(metrics.get('gslbd_gitops_sync_state{state="held"}')).toBe(0)
  })
})

describe('without health checks', () => {
  test('every member counts as healthy, and nobody is probed', async () => {
    const before = backend.connectionCount()
    const daemon = await run()
    const seen = new Set<string>()
    for (let i = 0; i < 4; i++)
      for (const line of await daemon.answers('www.example.com. A')) seen.add(line)
    expect([...seen].map((line) => line.split(' ').at(-1)).sort()).toEqual([
      '127.0.0.1',
      '127.0.0.9',
    ])
    const metrics = await daemon.metrics()
    expect(metrics.get('gslbd_members{health="healthy"}')).toBe(2)
    expect(metrics.get('gslbd_members_unprobed')).toBe(2)
    expect([...metrics.keys()].filter((name) => name.startsWith('gslbd_probes_total'))).toEqual([])
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    expect(backend.connectionCount()).toBe(before)
  })

  test('and with them, the member that does not listen leaves, and probes count', async () => {
    site.writeSettings({ health: { enabled: true } })
    const daemon = await run()
    await waitUntil('the verdict', async () => {
      const metrics = await daemon.metrics()
      return metrics.get('gslbd_members{health="unhealthy"}') === 1
    })
    for (let i = 0; i < 4; i++) {
      expect(await daemon.answers('www.example.com. A')).toEqual([
        'www.example.com. 5 IN A 127.0.0.1',
      ])
    }
    await waitUntil('probes to be counted', async () =>
      [...(await daemon.metrics())].some(
        ([name, n]) => name.startsWith('gslbd_probes_total') && n > 0,
      ),
    )
    await waitUntil('a probe at the backend', () => backend.connectionCount() > 0)
    await daemon.stop()
    const count = backend.connectionCount()
    site.writeSettings({})
    // Stopped means stopped: another whole run of a node without checks later, nothing has come.
    await (await run()).stop()
    expect(backend.connectionCount()).toBe(count)
  })
})

test('without the API, the process listens on its DNS port only', async () => {
  site.writeSettings({ api: { enabled: false } })
  const daemon = await start('serve', '--settings', site.settingsFile)
  expect(daemon.apiPort).toBe(0)
  expect(daemon.logged('API listens')).toBeUndefined()
  expect(listeningPorts(daemon.pid)).toEqual([daemon.dnsPort])
  site.writeSettings({})
  await daemon.stop()
})
