// `gslbd status` and `gslbd top` against the API itself, and against servers that misbehave.
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import type { ServerPorts } from '#api/server/app.ts'
import type { GitopsStatus, OperatorView } from '#ports/operator-view.ts'
import { main } from '#cli/main.ts'
import { apiKey, withKeys } from '#test/support/api-world.ts'
import { portsOf } from '#test/support/api-ports.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { seenNode } from '#test/support/seen-node.ts'

const hash = (sign: string): string => sign.repeat(40)
const gitops: GitopsStatus = {
  branch: 'main',
  head: hash('b'),
  accepted: hash('a'),
  active: hash('a'),
  sync: 'held',
  reason: { code: 'Unsigned', message: 'the commit has no signature', sinceMs: 1 },
  note: null,
  diagnostics: [],
  lookedFromMs: 1,
  node: {
    channel: 'main',
    seq: 7,
    serial: 12,
    digest: 'd'.repeat(64),
    issuedAtMs: 1,
    ageSeconds: 600,
    expired: false,
    swapCount: 1,
    lastSwapMs: 2,
    refused: null,
  },
}
const plain = (text: string) => ({ type: 'text/plain', text })
const view: OperatorView = {
  health: () => ({ status: 'ok', reasons: [] }),
  unready: () => [],
  gitops: () => gitops,
  metrics: async () => plain(''),
}
const nodes = [
  seenNode('n1', { isSelf: true }),
  seenNode('far', {
    ...{ isMissing: true, digest: 'e'.repeat(64) },
    members: { healthy: 5, unhealthy: 1, warming: 0, unprobed: 4, unresolved: 2 },
  }),
  seenNode('odd', {
    ...{ role: 'dns', drift: ['clock', 'refusing'] },
    refusals: [
      { digest: '', code: 'expired', reason: 'its channel record has expired', atMs: 1 },
      { digest: '', code: 'unknown-key', reason: 'its key is not in bundle.keys', atMs: 2 },
    ],
  }),
  seenNode('strange', { role: 'dns', isKnown: false }),
]
const cluster: ServerPorts['cluster'] = {
  nodes: async () => nodes,
  restart: async () => ({ ok: true, value: null }),
}

const discovery: ServerPorts['discovery'] = {
  accept: () => 0,
  sources: () => [
    {
      ...{ name: 'consul', type: 'consul', tenants: ['default'], state: 'held' },
      ...{ foundAtMs: Date.now() - 630_000, error: '2 of 3 members are not found any more' },
      ...{ members: 3, held: 2, heldSinceMs: 1, note: '' },
    },
    {
      ...{ name: 'list', type: 'file', tenants: ['*'], state: 'unused', foundAtMs: 0, error: '' },
      ...{ members: 0, held: 0, heldSinceMs: 0, note: 'grant it a watch' },
    },
  ],
}

const zoneTransfers: ServerPorts['zoneTransfers'] = {
  accept: async () => undefined,
  list: () => [
    {
      ...{ zone: 'example.net.', primaries: [{ address: '192.0.2.53', port: 53 }], state: 'held' },
      ...{
        serial: 7,
        offered: 8,
        error: 'it removes 9 of the 10 names',
        transfers: 1,
        failures: 0,
      },
      contactAtMs: Date.now() - 630_000,
    },
  ],
}

const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})

async function listening(brought: Partial<ServerPorts>): Promise<string> {
  const app = createApp(portsOf({ view, cluster, discovery, zoneTransfers, ...brought }), [])
  await app.listen({ host: '127.0.0.1', port: 0 })
  closers.push(() => app.close())
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

const status = (env: Record<string, string>, ...args: string[]) =>
  runCliWith(env, 'status', ...args)

describe('gslbd status', () => {
  test('shows health, commits, bundle and nodes', async () => {
    const run = await status({}, '--url', await listening({}))
    expect(run).toMatchObject({ exit: 0, err: '' })
    const lines = run.out.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
    for (const line of [
      'health ok',
      'git held branch main',
      ' head bbbbbbbbbbbb accepted aaaaaaaaaaaa active aaaaaaaaaaaa',
      ' Unsigned: the commit has no signature',
      'bundle seq 7 serial 12 dddddddddddd issued 10 min ago',
      'n1 (asked) ok 7 dddddddddddd 10 min 25 % 1000 2 up, 1 down 0.1.0',
      'far missing, last heard 1970-01-01T00:00:00Z 7 eeeeeeeeeeee 10 min 25 % 1000 1 up, 1 down, 4 not probed, 2 without an address 0.1.0',
      'odd ok clock refusing 7 dddddddddddd 10 min 25 % 1000 2 up, 1 down 0.1.0',
      'odd refuses: unknown-key: its key is not in bundle.keys',
      'strange ok not listed 7 dddddddddddd 10 min 25 % 1000 2 up, 1 down 0.1.0',
      'consul held 10 min 3 2 2 of 3 members are not found any more',
      'list unused - 0 0 grant it a watch',
      'example.net. held 7 10 min it removes 9 of the 10 names',
    ]) {
      expect(lines.map((one) => one.trimEnd())).toContain(line.trimEnd())
    }
  })

  test('a node that is not well: its reasons, and exit code 1', async () => {
    const reasons = [{ code: 'git-held', message: 'A commit is held.' }]
    const sick = { ...view, health: () => ({ status: 'degraded' as const, reasons }) }
    const run = await status({}, '--url', await listening({ view: sick }))
    expect(run.exit).toBe(1)
    expect(run.out).toContain('git-held: A commit is held.')
  })

  test('a node that is not ready: why, once', async () => {
    const [known, other] = [
      { code: 'no-bundle', message: 'No bundle yet.' },
      { code: 'database-away', message: 'The database is being made.' },
    ]
    const health = () => ({ status: 'starting' as const, reasons: [known] })
    const early = { ...view, health, unready: () => [known, other] }
    const { out } = await status({}, '--url', await listening({ view: early }))
    expect(out).toMatch(/^ready +no\n +database-away: The database is being made\.$/m)
    expect(out.split('no-bundle: No bundle yet.')).toHaveLength(2)
  })

  test('--json prints what the API gave, one line', async () => {
    const run = await status({}, '--json', '--url', await listening({}))
    expect(run.out.trimEnd()).not.toContain('\n')
    expect(JSON.parse(run.out)).toMatchObject({
      health: { status: 'ok' },
      ready: { status: 'ready' },
      gitops: { sync: 'held', node: { seq: 7 } },
      nodes: [
        { name: 'n1' },
        { name: 'far', isMissing: true },
        { name: 'odd' },
        { name: 'strange' },
      ],
      faults: [],
    })
  })

  test('the key is that of the environment; without it, it says what to set', async () => {
    const GSLB_API_URL = await listening({ auth: withKeys })
    const good = await status({ GSLB_API_KEY: apiKey, GSLB_API_URL })
    expect(good.out).toContain('far')
    const bad = await status({ GSLB_API_URL })
    expect(bad.exit).toBe(1)
    expect(bad.out).toContain('set GSLB_API_KEY')
    expect(bad.out).toContain('health  ok')
  })

  test.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ TERM: 'dumb' }, false],
  ])('on a terminal with %j: colours %s', async (env, isColoured) => {
    let out = ''
    const io = { out: (text: string) => void (out += text), err: () => {}, env, isTerminal: true }
    await main(['status', '--url', await listening({})], io)
    expect(out.includes('\u001b[32mok')).toBe(isColoured)
    expect(out.includes('\u001b')).toBe(isColoured)
  })

  test('--watch clears a terminal before each look, and ends after --times', async () => {
    let out = ''
    const io = {
      out: (text: string) => void (out += text),
      err: () => {},
      env: {},
      isTerminal: true,
    }
    const words = ['--watch', '--times', '2', '--interval', '0.1']
    expect(await main(['status', '--url', await listening({}), ...words], io)).toBe(0)
    expect(out.split('\u001b[2J')).toHaveLength(3)
  })

  test.each([
    [['--url', 'ftp://x'], 'is no address of an API'],
    [['--url', 'http://a:b@x'], 'holds no password'],
    [['--watch', '--interval', '0'], '--interval is a number of seconds'],
    [['--watch', '--times', '0'], '--times is a whole number'],
  ])('%j is a wrong call', async (words, part) => {
    const run = await status({}, ...words)
    expect(run.exit).toBe(2)
    expect(run.err).toContain(part)
  })
})

describe('a server that is no node', () => {
  test('does not listen', async () => {
    const run = await status({}, '--url', 'http://127.0.0.1:2')
    expect(run).toMatchObject({ exit: 1 })
    expect(run.out).toContain('nothing listens there')
  })

  test.each([
    ['another program', { status: 200, body: '<html>' }, 'gives no JSON'],
    ['a list', { status: 200, body: [] }, 'has no status'],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, '302'],
  ])('%s', async (_title, given, part) => {
    const { url, asked } = await startStandIn(() => given)
    const run = await status({ GSLB_API_KEY: apiKey }, '--url', url)
    expect(run.exit).toBe(1)
    expect(run.out).toContain(part)
    expect(asked).toHaveLength(1)
  })

  test('cannot move the cursor', async () => {
    const body = { status: 'ok\u001b[2J', reasons: [{ code: 'x\ny', message: '\u202ex' }] }
    const { url } = await startStandIn(() => ({ status: 200, body }))
    const { out } = await status({}, '--url', url)
    expect(out).toContain('ok?[2J')
    expect(out).toContain('x?y: ?x')
  })
})

describe('gslbd top', () => {
  const reading = (queries: number, servfail: number): string =>
    [
      '# HELP gslbd_dns_queries_total Queries.',
      `gslbd_dns_queries_total{transport="udp"} ${queries}`,
      'gslbd_dns_queries_total{transport="tcp"} 5',
      `gslbd_dns_responses_total{rcode="NOERROR"} ${queries}`,
      `gslbd_dns_responses_total{rcode="SERVFAIL"} ${servfail}`,
      'gslbd_members{health="healthy"} 3',
      'gslbd_members{health="unhealthy"} 1',
      'gslbd_thread_busy_ratio{thread="0"} 0.5',
      'gslbd_pool_members{tenant="default",pool="a\\"b",health="unhealthy"} 1',
      'gslbd_pool_members{tenant="default",pool="well",health="unhealthy"} 0',
      '',
    ].join('\n')

  test('shows rates, members, pools with members that are down, and threads', async () => {
    let count = 0
    const metrics = async () => plain(reading(1_000_000 * ++count, 3))
    const url = await listening({ view: { ...view, metrics } })
    const run = await runCliWith({}, 'top', '--url', url, '--times', '1', '--interval', '0.1')
    expect(run).toMatchObject({ exit: 0, err: '' })
    expect(run.out).toMatch(/^queries\/s +[1-9]\d+ {2}\(udp [1-9]\d+\)$/m)
    expect(run.out).toMatch(/^members +3 healthy, 1 unhealthy$/m)
    expect(run.out).toMatch(/^NOERROR +[1-9]\d+$/m)
    expect(run.out).not.toContain('SERVFAIL')
    expect(run.out).toMatch(/^default\/a"b +1$/m)
    expect(run.out).not.toContain('well')
    expect(run.out).toMatch(/^0 +50 % +0$/m)
  })

  test('members that nobody probes are not among the healthy', async () => {
    const metrics = async () => plain(`${reading(1, 0)}gslbd_members_unprobed 2\n`)
    const url = await listening({ view: { ...view, metrics } })
    const run = await runCliWith({}, 'top', '--url', url, '--times', '1', '--interval', '0.1')
    expect(run.out).toMatch(/^members +1 healthy, 1 unhealthy, 2 not probed$/m)
  })

  test('a node that began anew has its counts since then', async () => {
    let count = 0
    const metrics = async () => plain(reading(count++ === 0 ? 1_000_000 : 40, 0))
    const url = await listening({ view: { ...view, metrics } })
    const run = await runCliWith({}, 'top', '--url', url, '--times', '1', '--interval', '0.1')
    expect(run.out).toMatch(/^NOERROR +[1-9]/m)
  })

  test('a node without a DNS port says so', async () => {
    const metrics = async () => plain('gslbd_dns_queries_total{transport="udp"} 0\n')
    const url = await listening({ view: { ...view, metrics } })
    const run = await runCliWith({}, 'top', '--url', url, '--times', '1', '--interval', '0.1')
    expect(run.out).toMatch(/^queries\/s +none: this node has no DNS port/m)
  })

  test('a node that cannot be read', async () => {
    const run = await runCliWith({}, 'top', '--url', 'http://127.0.0.1:2')
    expect(run.exit).toBe(1)
    expect(run.err).toContain('nothing listens there')
  })
})
