// Alerts of one node and of several on one database: what is opened, ended, sent, and by whom.
import { beforeEach, describe, expect, test } from 'vitest'
import { AlertKeeper } from '#alerts/cluster/alert-keeper.ts'
import type { NodeAlertFacts } from '#alerts/cluster/alert-keeper.ts'
import { clusterLimits } from '#alerts/cluster/limits.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import { Random } from '#lib/random.ts'
import { err } from '#lib/result.ts'
import { operatorId } from '#state/ports/alerts.ts'
import type { SendOutcome, StoredChannel } from '#state/ports/alerts.ts'
import { healthyFacts, newChannel, newSilence } from '#test/support/alerts.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const startMs = Date.UTC(2026, 0, 15, 12)
const groupWaitMs = 10_000
const state = useState(persistentAdapters[0]![1])

/** By channel: `EVENT TITLE` of each message, in their order. */
let received: { readonly channel: string; readonly id: string; readonly told: string[] }[] = []
/** Answers of a channel in order; the last one repeats. */
let answers: Record<string, SendOutcome[]> = {}
/** Channels that do not answer until they are let. */
let hanging: Record<string, PromiseWithResolvers<SendOutcome>> = {}
let time = new FakeTime(startMs)
beforeEach(() => {
  received = []
  answers = {}
  hanging = {}
  time = new FakeTime(startMs)
})

const send = async (channel: StoredChannel, message: AlertMessage): Promise<SendOutcome> => {
  const { id, kind } = channel
  const told = message.steps.map(({ event, alert }) => `${event} ${alert.title}`).toSorted()
  expect(kind).toBe('webhook')
  received.push({ channel: id, id: message.id, told })
  const hangs = hanging[id]
  if (hangs !== undefined) return await hangs.promise
  const [answer = { ok: true }, ...more] = answers[id] ?? []
  if (more.length > 0) answers[id] = more
  return answer
}
const failure = { ok: false, fault: 'HTTP 500', isFinal: false } as const
const told = (channel: string): string[][] =>
  received.filter((one) => one.channel === channel).map((one) => one.told)

class Node {
  facts: Partial<NodeAlertFacts> = {}
  readonly keeper: AlertKeeper

  constructor(node: string, { isAlone = false, send: sender = send, store = state().alerts } = {}) {
    const names = [...Object.keys(healthyFacts), 'commit'] as (keyof NodeAlertFacts)[]
    // As they are when they are asked for.
    const factOf = (name: keyof NodeAlertFacts) => () =>
      ({ ...healthyFacts, commit: () => 'c1', ...this.facts })[name]()
    const late: object = Object.fromEntries(names.map((name) => [name, factOf(name)]))
    const facts = late as NodeAlertFacts
    this.keeper = new AlertKeeper({
      ...{ store, isThere: () => true, isAlone, node, holder: `${node}/1`, facts },
      settings: { geoMaxAgeMs: 1, expiryWarningMs: 0, diskFreeMinPercent: 5, groupWaitMs },
      ...{ send: sender, clock: time.clock, random: new Random(1), log: silentLog },
    })
  }

  /** No member of the pool may answer. */
  breakPools(...names: string[]): void {
    const pools = names.map((name) => ({ uid: name, name, tenant: 'acme' }))
    this.facts = { emptyPools: () => pools.map((pool) => ({ ...pool, members: 1 })) }
  }

  mend(): void {
    this.facts = {}
  }
}

/** Rounds of these nodes, one after the other, for so long. */
async function pass(durationMs: number, ...nodes: readonly Node[]): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 5_000) {
    time.pass(5_000)
    for (const { keeper } of nodes) await keeper.look()
    for (const { keeper } of nodes) if (Object.keys(hanging).length === 0) await keeper.idle()
  }
}
const broken = (...names: string[]): string[] =>
  names.map((name) => `opened pool ${name} has no member that may answer`)
const mended = (...names: string[]): string[] =>
  names.map((name) => `resolved pool ${name} has no member that may answer`)
const alerts = async (open: 'open' | 'resolved') =>
  (
    await valueOf(
      state().alerts.listAlerts('every-tenant', { state: open, before: '', limit: 100 }),
    )
  ).map(({ title, node }) => `${title}${node === '' ? '' : ` on ${node}`}`)
const addChannel = (id: string, parts: Partial<StoredChannel> = {}) =>
  valueOf(state().alerts.createChannel(newChannel(id, parts)))

describe('one node', () => {
  test('tells what begins together in one message, and its end once', async () => {
    await addChannel('c1')
    const node = new Node('n1', { isAlone: true })
    await pass(60_000, node)
    expect(received).toEqual([])
    node.breakPools('a', 'b')
    await pass(5_000, node)
    node.breakPools('a', 'b', 'c')
    await pass(5_000, node)
    expect(received).toEqual([])
    await pass(120_000, node)
    expect(told('c1')).toEqual([broken('a', 'b'), broken('c')])
    node.breakPools('b', 'c')
    // It must be over for a while.
    await pass(10_000, node)
    expect(told('c1')).toHaveLength(2)
    await pass(60_000, node)
    expect(told('c1')[2]).toEqual(mended('a'))
    node.mend()
    await pass(60_000, node)
    expect(told('c1').slice(3)).toEqual([mended('b', 'c')])
    expect(await alerts('open')).toEqual([])
  })

  test('asks its own database nothing while there is nobody to tell and no news', async () => {
    const { alerts: real } = state()
    let calls = 0
    const count = (...[of, key]: readonly [object, string | symbol]): unknown => {
      const method = Reflect.get(of, key) as (...values: unknown[]) => unknown
      return (...values: unknown[]) => {
        calls++
        return method(...values)
      }
    }
    const store = new Proxy<typeof real>(real, { get: count })
    const node = new Node('n1', { isAlone: true, store })
    node.breakPools('a')
    await pass(60_000, node)
    expect(await alerts('open')).toEqual(['pool a has no member that may answer'])
    const callsIn = async (durationMs: number): Promise<number> => {
      calls = 0
      await pass(durationMs, node)
      return calls
    }
    expect(await callsIn(600_000)).toBe(0)
    // What begins is told of, also to a channel that was made meanwhile.
    await addChannel('c1')
    node.breakPools('a', 'b')
    expect(await callsIn(60_000)).toBeGreaterThan(0)
    expect(told('c1')).toEqual([broken('b')])
    node.mend()
    await pass(60_000, node)
    expect(await alerts('open')).toEqual([])
    expect(node.keeper.status()).toMatchObject({ opened: 2, resolved: 2 })
    expect(node.keeper.status().delivered.get('webhook')).toEqual({ sent: 2, failed: 0 })
  })

  test('says nothing of what came and went while it was gathered', async () => {
    await addChannel('c1')
    const node = new Node('n1', { isAlone: true })
    await pass(60_000, node)
    node.facts = { held: () => ({ code: 'Unsigned', reason: 'x' }) }
    await pass(5_000, node)
    node.mend()
    await pass(60_000, node)
    expect(received).toEqual([])
    expect(await alerts('resolved')).toEqual(['the newest commit is held: Unsigned'])
  })

  test('tells a tenant of its own, the operator of all, and each what it chose', async () => {
    await addChannel('acme')
    await addChannel('zenith', { tenantId: 'zenith' })
    await addChannel('operator', { tenantId: operatorId })
    await addChannel('disks', { tenantId: operatorId, conditions: ['disk'] })
    await addChannel('severe', { tenantId: operatorId, minSeverity: 'critical' })
    await addChannel('off', { enabled: false })
    const node = new Node('n1', { isAlone: true })
    node.breakPools('a')
    node.facts = { ...node.facts, disk: () => ({ fault: '', freePercent: 1 }) }
    await pass(60_000, node)
    const disk = 'opened 1 % of the disk of the data directory is free'
    expect(told('acme')).toEqual([broken('a')])
    expect(told('zenith')).toEqual([])
    expect(told('operator').flat().toSorted()).toEqual([disk, ...broken('a')].toSorted())
    expect(told('disks')).toEqual([[disk]])
    expect(told('severe')).toEqual([broken('a')])
    expect(told('off')).toEqual([])
    expect(await alerts('open')).toContain('1 % of the disk of the data directory is free on n1')
  })

  test('tells again what becomes more severe, whoever had not chosen it before', async () => {
    await addChannel('operator', { tenantId: operatorId })
    await addChannel('severe', { tenantId: operatorId, minSeverity: 'critical' })
    const node = new Node('n1', { isAlone: true })
    const low = { disk: () => ({ fault: '', freePercent: 1 }) }
    const full = { disk: () => ({ fault: 'nothing can be written', freePercent: 1 }) }
    const title = '1 % of the disk of the data directory is free'
    node.facts = low
    await pass(60_000, node)
    expect([told('operator'), told('severe')]).toEqual([[[`opened ${title}`]], []])
    node.facts = full
    await pass(20_000, node)
    const [[, [worse = '']], [[first = '']]] = [told('operator'), told('severe')] as [
      [string[], string[]],
      [string[]],
    ]
    expect(worse).toBe('opened the data directory cannot be written')
    expect([worse, first]).toEqual([first, worse])
    // To and fro, it is told once.
    for (let i = 0; i < 4; i++) {
      node.facts = low
      await pass(10_000, node)
      node.facts = full
      await pass(10_000, node)
    }
    expect(told('operator')).toHaveLength(2)
    node.facts = low
    await pass(120_000, node)
    expect(await alerts('open')).toEqual([`${title} on n1`])
    node.facts = full
    await pass(20_000, node)
    expect([told('operator').length, told('severe').length]).toEqual([3, 2])
    node.mend()
    await pass(120_000, node)
    const end = worse.replace('opened', 'resolved')
    expect([told('operator').at(-1), told('severe').at(-1)]).toEqual([[end], [end]])
  })

  test('tries again under the same id after growing pauses', async () => {
    await addChannel('bad')
    await addChannel('good')
    answers = { bad: [failure, failure, failure, { ok: true }] }
    const node = new Node('n1', { isAlone: true })
    node.breakPools('a')
    await pass(20_000, node)
    expect(told('good')).toEqual([broken('a')])
    const begunMs = time.clock.nowMs()
    await pass(300_000, node)
    const tries = received.filter(({ channel }) => channel === 'bad')
    expect(tries).toHaveLength(4)
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1)
    expect(told('good')).toHaveLength(1)
    const channel = await valueOf(state().alerts.findChannel('every-tenant', 'bad'))
    expect(channel?.health).toMatchObject({ failures: 0, queued: 0, dropped: 0 })
    // 5, 10 and 20 s, give or take a fifth, and a round.
    expect(channel!.health.lastSentAtMs! - begunMs).toBeLessThan(60_000)
  })

  test('goes on with the others while a channel does not answer', async () => {
    await addChannel('slow')
    await addChannel('good')
    hanging = { slow: Promise.withResolvers<SendOutcome>() }
    const node = new Node('n1', { isAlone: true })
    node.breakPools('a')
    await pass(20_000, node)
    node.breakPools('a', 'b')
    await pass(60_000, node)
    await expect.poll(() => told('good')).toEqual([broken('a'), broken('b')])
    expect(told('slow')).toEqual([broken('a')])
    const { slow } = hanging
    hanging = {}
    slow!.resolve({ ok: true })
    await node.keeper.idle()
    await pass(5_000, node)
    expect(told('slow')).toEqual([broken('a'), broken('b')])
  })

  test('keeps what begins back while a silence holds, and tells it afterwards', async () => {
    await addChannel('c1')
    const untilMs = startMs + 120_000
    await valueOf(state().alerts.createSilence(newSilence('s1', { subject: 'a', untilMs })))
    const node = new Node('n1', { isAlone: true })
    node.breakPools('a', 'b')
    await pass(60_000, node)
    expect(told('c1')).toEqual([broken('b')])
    await pass(65_000, node)
    expect(told('c1')).toEqual([broken('b'), broken('a')])
  })

  test('after kill -9 sends again what was on its way, and tells no end that is none', async () => {
    await addChannel('c1')
    hanging = { c1: Promise.withResolvers<SendOutcome>() }
    const killed = new Node('n1', { isAlone: true })
    killed.breakPools('a')
    await pass(20_000, killed)
    await expect.poll(() => told('c1')).toEqual([broken('a')])
    hanging = {}
    // Its members were not probed yet: all look healthy.
    const next = new Node('n1', { isAlone: true })
    await pass(15_000, next)
    const ids = received.map(({ id }) => id)
    expect(told('c1')).toEqual([broken('a'), broken('a')])
    expect(ids[0]).toBe(ids[1])
    next.breakPools('a')
    await pass(120_000, next)
    expect(told('c1')).toHaveLength(2)
    expect(await alerts('open')).toHaveLength(1)
  })

  test('a stop keeps what is open, and a condition that throws stops no other', async () => {
    await addChannel('c1', { tenantId: operatorId })
    const node = new Node('n1', { isAlone: true })
    node.breakPools('a')
    node.facts = {
      ...node.facts,
      disk: () => {
        throw new Error('no disk')
      },
    }
    await pass(30_000, node)
    await node.keeper.stop()
    const next = new Node('n1', { isAlone: true })
    next.breakPools('a')
    await pass(60_000, next)
    expect(told('c1')).toEqual([broken('a')])
  })
})

describe('several nodes on one database', () => {
  test('tell once what each finds, and its end when the last finds it no more', async () => {
    await addChannel('c1')
    const nodes = [new Node('n1'), new Node('n2'), new Node('n3')]
    await pass(40_000, ...nodes)
    for (const node of nodes) node.breakPools('a')
    await pass(60_000, ...nodes)
    expect(told('c1')).toEqual([broken('a')])
    nodes[0]!.mend()
    nodes[1]!.mend()
    await pass(60_000, ...nodes)
    expect(told('c1')).toHaveLength(1)
    nodes[2]!.mend()
    await pass(60_000, ...nodes)
    expect(told('c1')).toEqual([broken('a'), mended('a')])
    expect(nodes.filter(({ keeper }) => keeper.status().isLeading)).toHaveLength(1)
  })

  test('tell what the one finds that finds it worst', async () => {
    await addChannel('severe', { tenantId: operatorId, minSeverity: 'error' })
    const nodes = [new Node('n1'), new Node('n2')]
    await pass(40_000, ...nodes)
    const renewal = (endsInMs: number) => () => {
      const valid = { fromMs: startMs - 3_600_000, toMs: startMs + endsInMs }
      return [{ entry: '', names: ['a.example'], failure: 'it is away', nextMs: null, valid }]
    }
    // The second one knows the certificate that has ended.
    nodes[0]!.facts = { renewals: renewal(86_400_000) }
    nodes[1]!.facts = { renewals: renewal(-1) }
    await pass(700_000, ...nodes)
    expect(told('severe')).toEqual([['opened the certificate of a.example is not renewed']])
  })

  test('have alerts of their own for what is their own', async () => {
    await addChannel('c1', { tenantId: operatorId })
    const nodes = [new Node('n1'), new Node('n2')]
    for (const node of nodes) node.facts = { disk: () => ({ fault: '', freePercent: 1 }) }
    await pass(60_000, ...nodes)
    const title = '1 % of the disk of the data directory is free'
    expect((await alerts('open')).toSorted()).toEqual([`${title} on n1`, `${title} on n2`])
  })

  test('when the leader dies another one goes on, and misses it alone', async () => {
    await addChannel('c1', { tenantId: operatorId })
    const [first, second, third] = [new Node('n1'), new Node('n2'), new Node('n3')]
    await pass(40_000, first, second, third)
    expect(first.keeper.status().isLeading).toBe(true)
    second.breakPools('a')
    await third.keeper.stop()
    // From here on nothing of the first one runs.
    await pass(60_000, second)
    expect(second.keeper.status().isLeading).toBe(true)
    const missing = 'opened node n1 is missing'
    expect(told('c1').flat().toSorted()).toEqual([missing, ...broken('a')].toSorted())
    const back = new Node('n1')
    await pass(60_000, second, back)
    expect(told('c1').at(-1)).toEqual(['resolved node n1 is missing'])
    expect(back.keeper.status().isLeading).toBe(false)
  })

  test('do not miss one that stops during a round', async () => {
    await addChannel('c1', { tenantId: operatorId })
    const stays = new Node('n1')
    const { alerts: real } = state()
    const read = Promise.withResolvers<undefined>()
    let isSlow = false
    const reports: typeof real.reports = async () => {
      const found = await real.reports()
      if (isSlow) await read.promise
      return found
    }
    const leaves = new Node('n2', { store: { ...real, reports } })
    await pass(40_000, stays, leaves)
    isSlow = true
    time.pass(clusterLimits.beatEveryMs)
    const round = leaves.keeper.look()
    await leaves.keeper.stop()
    read.resolve(undefined)
    await round
    expect((await valueOf(real.reports())).map(({ node }) => node)).toEqual(['n1'])
  })

  test('one that was cut off tells what it still finds a while after it is back', async () => {
    await addChannel('c1')
    let isCut = false
    const { alerts: real } = state()
    const away = err({ code: 'store-away', message: 'It is away.' } as const)
    const reports: typeof real.reports = async () => (isCut ? away : await real.reports())
    const store = new Proxy(real, {
      get: (of, key) => (key === 'reports' ? reports : (Reflect.get(of, key) as unknown)),
    })
    const [there, cut] = [new Node('n1'), new Node('n2', { store })]
    await pass(40_000, there, cut)
    isCut = true
    cut.breakPools('a', 'b')
    await pass(60_000, there, cut)
    isCut = false
    await pass(20_000, there, cut)
    cut.breakPools('b')
    await pass(60_000, there, cut)
    expect(told('c1')).toEqual([broken('b')])
  })

  test('a leader that was cut off sends nothing once another one leads', async () => {
    await addChannel('c1')
    const [first, second] = [new Node('n1'), new Node('n2')]
    await pass(40_000, first, second)
    hanging = { c1: Promise.withResolvers<SendOutcome>() }
    second.breakPools('a', 'b')
    first.breakPools('a', 'b')
    await pass(20_000, first)
    await expect.poll(() => told('c1')).toHaveLength(1)
    const { c1 } = hanging
    hanging = {}
    await pass(60_000, second)
    // At least once: nobody knows whether the first one got through.
    expect(told('c1')).toEqual([broken('a', 'b'), broken('a', 'b')])
    c1!.resolve({ ok: true })
    await first.keeper.idle()
    await pass(60_000, first, second)
    expect(told('c1')).toHaveLength(2)
    expect(first.keeper.status().isLeading).toBe(false)
  })

  test('tell of nodes that answer from another commit for long', async () => {
    await addChannel('c1', { tenantId: operatorId })
    const [first, second] = [new Node('n1'), new Node('n2')]
    second.facts = { commit: () => 'c2' }
    await pass(4 * 60_000, first, second)
    expect(received).toEqual([])
    await pass(3 * 60_000, first, second)
    expect(told('c1')).toEqual([['opened nodes answer from different commits']])
    second.mend()
    await pass(30_000, first, second)
    expect(told('c1').at(-1)).toEqual(['resolved nodes answer from different commits'])
  })

  test('do not wait for a node that is gone for a day', async () => {
    const [first, second] = [new Node('n1'), new Node('n2')]
    await pass(40_000, first, second)
    await pass(60_000, first)
    expect(await alerts('open')).toEqual(['node n2 is missing'])
    time.pass(clusterLimits.forgetNodeMs)
    await pass(15_000, first)
    expect(await alerts('open')).toEqual([])
  })
})
