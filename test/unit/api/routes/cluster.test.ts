// The nodes of the cluster over HTTP: two nodes on one bus, and one that is alone.
import { describe, expect, test } from 'vitest'
import type { AnnouncedAddresses } from '#ports/anycast-view.ts'
import { createApp } from '#api/server/app.ts'
import { createClusterView } from '#node/status/cluster-view.ts'
import { createMemoryClusterNodes } from '#state/memory/cluster-nodes.ts'
import { clusterNodeLimits } from '#state/ports/cluster-nodes.ts'
import type { ClusterNode, ClusterNodes } from '#state/ports/cluster-nodes.ts'
import { portsOf } from '#test/support/api-ports.ts'
import { DriftWatch, driftKinds } from '#fleet/drift.ts'
import { createNodeInventory } from '#fleet/node-inventory.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { driftCodes } from '#ports/cluster-view.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const startMs = Date.UTC(2026, 0, 15)
const wordOf = (name: string, atMs: number): ClusterNode => ({
  name,
  version: '0.1.0',
  startedAtMs: startMs,
  atMs,
  commit: 'c'.repeat(40),
  digest: 'd'.repeat(64),
  seq: 7,
  issuedAtMs: startMs,
  busyRatio: 0.25,
  queries: 1_000,
  status: 'degraded',
  reasons: ['redis-away'],
  members: { healthy: 2, unhealthy: 1, warming: 0 },
  isSupervised: true,
})

/** @param announced by the node; null: nothing */
function scene(
  isShared: boolean,
  nodes: ClusterNodes = createMemoryClusterNodes(),
  announced: AnnouncedAddresses | null = null,
) {
  const time = new FakeTime(startMs)
  const restarted: string[] = []
  const faults = new Map<string, string>()
  const taker = (name: string) => () => {
    const fault = faults.get(name) ?? null
    if (fault === null) restarted.push(name)
    return fault
  }
  const inventory = createNodeInventory(time.clock)
  const watch = new DriftWatch(time.clock, () => undefined)
  const self = () => wordOf('n1', time.clock.nowMs())
  const cluster = createClusterView({
    ...{ self, nodes, isShared, takeRestart: taker('n1'), clock: time.clock },
    fleet: async () => watch.look(inventory.all()),
  })
  const anycast = { status: () => announced }
  const app = createApp(portsOf({ cluster, anycast, clock: time.clock }), [])
  const ask = async (method: 'GET' | 'POST', path: string) => {
    const answer = await app.inject({
      method,
      url: `/api/v1${path}`,
      headers: { host: 'localhost' },
    })
    return { status: answer.statusCode, body: answer.json<never>() as unknown }
  }
  return { inventory, time, nodes, restarted, faults, taker, ask }
}

describe('the list', () => {
  test('has this node first, with all that it says of itself', async () => {
    const { ask, time } = scene(false)
    time.pass(2_500)
    expect(await ask('GET', '/cluster/nodes')).toEqual({
      status: 200,
      body: [
        {
          name: 'n1',
          isSelf: true,
          isMissing: false,
          version: '0.1.0',
          startedAt: startMs,
          seenAt: startMs + 2_500,
          commit: 'c'.repeat(40),
          digest: 'd'.repeat(64),
          seq: 7,
          ageSeconds: 2.5,
          load: { busyRatio: 0.25, queries: 1_000 },
          health: {
            status: 'degraded',
            reasons: ['redis-away'],
            members: { healthy: 2, unhealthy: 1, warming: 0 },
          },
          role: 'control',
          labels: {},
          isKnown: true,
          clockOffsetMs: null,
          refusals: [],
          drift: [],
          canRestart: true,
        },
      ],
    })
  })

  test('has no load of a node that answers no DNS', async () => {
    const { ask, time, nodes } = scene(true)
    await nodes.announce({ ...wordOf('n2', time.clock.nowMs()), answersDns: false })
    const { body } = await ask('GET', '/cluster/nodes')
    expect(body).toMatchObject([{ load: { queries: 1_000 } }, { name: 'n2', load: null }])
  })

  test('has the others by name, and says who has fallen silent', async () => {
    const { ask, time, nodes } = scene(true)
    for (const name of ['n3', 'n1', 'n2']) await nodes.announce(wordOf(name, startMs))
    time.pass(clusterNodeLimits.missingMs + 1)
    await nodes.announce(wordOf('n3', time.clock.nowMs()))
    const { body } = await ask('GET', '/cluster/nodes')
    const told = (body as { name: string; isMissing: boolean }[]).map(({ name, isMissing }) => [
      name,
      isMissing,
    ])
    expect(told).toEqual([
      ['n1', false],
      ['n2', true],
      ['n3', false],
    ])
  })

  test('is that of the node alone while the others cannot be asked', async () => {
    const away = async () => ({ ok: false, error: { code: 'store-away', message: 'x' } }) as const
    const { ask } = scene(true, { ...createMemoryClusterNodes(), list: away })
    const { status, body } = await ask('GET', '/cluster/nodes')
    expect([status, (body as object[]).length]).toEqual([200, 1])
  })
})

const refusing = ['bundle-refused', 'no-source']

describe('nodes that pull', () => {
  test('are in the list with what they told, and with what is wrong', async () => {
    const { ask, inventory, time } = scene(false)
    inventory.report(reportOf('far-1', { sentAtMs: startMs + 4_000, isRefusing: true }))
    inventory.report(
      reportOf('n1', { role: 'control', labels: { site: 'fra2' }, sentAtMs: startMs }),
    )
    time.pass(1_500)
    const { body } = await ask('GET', '/cluster/nodes')
    const [self, far, ...rest] = body as object[]
    expect(self).toMatchObject({ name: 'n1', isSelf: true, labels: { site: 'fra2' }, drift: [] })
    expect(far).toMatchObject({
      ...{ name: 'far-1', isSelf: false, isMissing: false, role: 'dns', seq: 7, commit: null },
      ...{ seenAt: startMs, labels: { site: 'fra1' }, clockOffsetMs: 4_000 },
      drift: ['clock', 'refusing'],
      refusals: [
        { digest: 'e'.repeat(64), code: 'bad-bundle', reason: 'it is damaged', at: 2_500 },
      ],
      load: { busyRatio: 0.25, queries: 10 },
      health: { status: 'degraded', members: { healthy: 3, unhealthy: 1, warming: 0 } },
      canRestart: false,
    })
    expect(rest).toEqual([])
  })

  test.each<[string, Partial<NodeReport>, string, readonly string[]]>([
    ['is well', { reasons: [] }, 'ok', []],
    ['is of an older version', {}, 'ok', []],
    ['has no keys', { reasons: ['zone-key-missing'] }, 'degraded', ['zone-key-missing']],
    ['refuses', { reasons: ['no-source'], isRefusing: true }, 'degraded', refusing],
    ['has nothing yet', { reasons: ['no-bundle'], digest: null }, 'starting', ['no-bundle']],
  ])('say of their health what they know: one that %s', async (_what, said, status, reasons) => {
    const { ask, inventory } = scene(false)
    inventory.report(reportOf('far-1', said))
    const { body } = await ask('GET', '/cluster/nodes')
    expect((body as object[])[1]).toMatchObject({ health: { status, reasons } })
  })

  test('are restarted on their own machines', async () => {
    const { ask, inventory } = scene(false)
    inventory.report(reportOf('far-1'))
    expect(await ask('POST', '/cluster/nodes/far-1/restart')).toEqual({
      status: 409,
      body: { error: 'a node of the role dns takes no orders: restart it on its own machine' },
    })
  })

  test('have the words for what is wrong that the fleet has', () => {
    expect(driftCodes).toEqual(driftKinds)
  })
})

describe('a restart', () => {
  const taken = (name: string) => ({ status: 202, body: { name, status: 'restarting' } })

  test('reaches this node', async () => {
    const { ask, restarted } = scene(false)
    expect(await ask('POST', '/cluster/nodes/n1/restart')).toEqual(taken('n1'))
    expect(restarted).toEqual(['n1'])
  })

  test('reaches another node alone', async () => {
    const { ask, restarted, nodes, taker } = scene(true)
    await nodes.announce(wordOf('n2', startMs))
    nodes.onRestart('n2', taker('n2'))
    expect(await ask('POST', '/cluster/nodes/n2/restart')).toEqual(taken('n2'))
    expect(restarted).toEqual(['n2'])
  })

  test.each(['n1', 'n2'])('of %s is 409 where no supervisor would start it again', async (name) => {
    const { ask, restarted, nodes, taker, faults } = scene(true)
    await nodes.announce(wordOf('n2', startMs))
    nodes.onRestart('n2', taker('n2'))
    faults.set(name, 'nothing would start this node again')
    expect(await ask('POST', `/cluster/nodes/${name}/restart`)).toEqual({
      status: 409,
      body: { error: 'nothing would start this node again' },
    })
    expect(restarted).toEqual([])
  })

  test('is 404 for an unknown node and 503 for a silent one', async () => {
    const { ask, nodes } = scene(true)
    expect(await ask('POST', '/cluster/nodes/n9/restart')).toEqual({
      status: 404,
      body: { error: 'there is no such node' },
    })
    await nodes.announce(wordOf('n2', startMs))
    expect(await ask('POST', '/cluster/nodes/n2/restart')).toEqual({
      status: 503,
      body: { error: 'the node n2 does not answer; look at its machine' },
    })
  })

  test('is 501 for another node where this node reaches none', async () => {
    const { ask } = scene(false)
    const { status, body } = await ask('POST', '/cluster/nodes/n2/restart')
    expect([status, (body as { error: string }).error]).toEqual([
      501,
      expect.stringContaining('set redis.url in the settings of all nodes'),
    ])
  })
})

test('a node that announces nothing by BGP says so by an empty list', async () => {
  expect(await scene(false).ask('GET', '/bgp')).toEqual({ status: 200, body: [] })
})

test('a node that announces says what, since when, and what its daemon said last', async () => {
  const status: AnnouncedAddresses = {
    ...{ daemon: 'bird', addresses: ['192.0.2.53'], isAnnounced: false, reason: 'silent' },
    ...{ sinceMs: 1_000.5, holdDownLeftMs: 9_200, silentLooks: 4, isGuarded: true },
    driver: { isReachable: true, announces: 'none', reply: 'gslbd: disabled', atMs: 2_000.5 },
    selfQuery: { address: '192.0.2.53', fault: 'no answer', tookMs: 1_000, atMs: 3_000.5 },
  }
  expect(await scene(false, undefined, status).ask('GET', '/bgp')).toEqual({
    status: 200,
    body: [
      {
        ...{ node: 'n1', daemon: 'bird', addresses: ['192.0.2.53'] },
        ...{ isAnnounced: false, reason: 'silent', since: 1_000, holdDownSeconds: 10 },
        driver: { isReachable: true, announces: 'none', reply: 'gslbd: disabled', at: 2_000 },
        selfQuery: { address: '192.0.2.53', fault: 'no answer', milliseconds: 1_000, at: 3_000 },
        ...{ silentLooks: 4, isGuarded: true },
      },
    ],
  })
})
