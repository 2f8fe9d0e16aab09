// Nodes of one site that share members among them: who probes whom, and what the others believe.
import { afterEach, describe, expect, test } from 'vitest'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { HealthPolicy } from '#health/view/policy.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { createHealthView } from '#health/view/view.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import type { MonitoredTarget } from '#health/thread/messages.ts'
import { createMemoryPeerHealth } from '#state/memory/peer-health.ts'
import { breakableBus } from '../breakable-bus.ts'
import { probeTarget } from '../check.ts'
import { simulatedMonitor } from '../simulated-monitor.ts'
import type { SimulatedMonitor } from '../simulated-monitor.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const memberCount = 60
const members = Array.from({ length: memberCount }, (_, i) => `m${i}`)
const address = '192.0.2.1'
const targets = members.map((uid) => probeTarget(uid, {}, address))
/** A node is missed, its members are taken on, probed once, and let go of by others. */
const settleMs = 45_000

interface Given {
  readonly site?: string
  readonly probers?: number
  readonly policy?: HealthPolicy
  readonly targets?: readonly MonitoredTarget[]
  readonly isAgent?: boolean
  readonly isLone?: boolean
  /** By which the wall clock of the node differs. */
  readonly clockOffMs?: number
}

interface Node extends SimulatedMonitor {
  readonly name: string
  readonly view: HealthMonitor
  outcome: (uid: string) => Outcome
  /** Members that it has begun to probe since the last look, sorted. */
  readonly probed: () => readonly string[]
}

const nodes: Node[] = []
let bus = createMemoryPeerHealth()

afterEach(async () => {
  for (const { view } of nodes.splice(0)) await view.stop()
  bus = createMemoryPeerHealth()
})

async function join(name: string, given: Given = {}): Promise<Node> {
  const { site = 'fra1', probers = 2, policy = 'global-any-healthy' } = given
  const simulated = await simulatedMonitor(nodes.length + 1, createMemoryHealthVerdicts(), false)
  const { world, monitor: local } = simulated
  world.nowMs = nodes[0]?.world.nowMs ?? world.nowMs
  world.wallOffsetMs += given.clockOffMs ?? 0
  const view = createHealthView({
    ...{ local, signals: null, policy, quorumMinPercent: 51, log: silent },
    peers: { ...given, node: name, site, probers, bus },
    ...{ clock: world.clock, after: world.after },
  })
  const node: Node = {
    ...simulated,
    ...{ name, view, outcome: () => 'success' },
    probed: () => {
      const uids = world.started.splice(0).map(({ memberUid }) => memberUid)
      return [...new Set(uids)].sort()
    },
  }
  world.answer = ({ memberUid }) => ({ outcome: node.outcome(memberUid), afterMs: 10 })
  view.start()
  await new Promise((resolve) => setImmediate(resolve))
  view.setTargets(given.targets ?? targets)
  nodes.push(node)
  return node
}

async function walk(durationMs: number): Promise<void> {
  for (let walked = 0; walked < durationMs; walked += 500) {
    for (const { world } of nodes) world.walk(500)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Gone without a word. */
async function kill(name: string): Promise<void> {
  const at = nodes.findIndex((node) => node.name === name)
  await nodes.splice(at, 1)[0]!.view.stop()
}

/** Nodes that probe each member now, by its uid. */
async function probers(): Promise<ReadonlyMap<string, readonly string[]>> {
  for (const node of nodes) node.probed()
  await walk(11_000)
  const probed = nodes.map((node) => [node.name, node.probed()] as const)
  return new Map(
    members.map((uid) => [
      uid,
      probed.flatMap(([name, uids]) => (uids.includes(uid) ? [name] : [])),
    ]),
  )
}

const counts = (found: ReadonlyMap<string, readonly string[]>): readonly number[] =>
  [...new Set([...found.values()].map((names) => names.length))].sort()
const says = ({ view }: Node, uid: string): boolean | undefined => view.verdictOf(uid, address)

describe('members that few nodes of a site probe', () => {
  test('are each probed by as many as asked for, when all have said a first word', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await join(name)
    await walk(settleMs)
    expect(counts(await probers())).toEqual([2])
  })

  test('are probed by all where these are fewer than asked for', async () => {
    await join('a', { probers: 5 })
    await join('b', { probers: 5 })
    await walk(settleMs)
    expect(counts(await probers())).toEqual([2])
  })

  test('are probed in each site, and a site with one node has that one', async () => {
    for (const name of ['a', 'b', 'c']) await join(name, { probers: 1 })
    await join('far', { probers: 1, site: 'sin1' })
    await walk(settleMs)
    const found = await probers()
    for (const names of found.values()) {
      expect(names).toHaveLength(2)
      expect(names).toContain('far')
    }
  })

  test('move to other nodes when one dies, and the rest stay where they are', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await join(name)
    await walk(settleMs)
    const before = await probers()
    await kill('b')
    await walk(settleMs)
    const tried = new Map(nodes.map((node) => [node.name, node.probed()]))
    const after = await probers()
    expect(counts(after)).toEqual([2])
    // No other node has probed the members meanwhile.
    for (const [name, uids] of tried) {
      expect(uids.filter((uid) => !after.get(uid)!.includes(name))).toEqual([])
    }
    for (const [uid, names] of before) {
      expect(after.get(uid)).toEqual(expect.arrayContaining(names.filter((name) => name !== 'b')))
    }
  })

  test('go to a node that joins when it has said what it finds, and not before', async () => {
    for (const name of ['a', 'b', 'c']) await join(name, { probers: 1 })
    await walk(settleMs)
    const before = await probers()
    const late = await join('d', { probers: 1 })
    // The node is present, but cannot probe.
    late.outcome = () => 'local-error'
    await walk(settleMs)
    const blind = await probers()
    for (const [uid, names] of before)
      expect(blind.get(uid)).toEqual(expect.arrayContaining([...names]))
    late.outcome = () => 'success'
    await walk(settleMs)
    const after = await probers()
    expect(counts(after)).toEqual([1])
    const moved = members.filter((uid) => after.get(uid)![0] !== before.get(uid)![0])
    expect(moved.length).toBeGreaterThan(0)
    for (const uid of moved) expect(after.get(uid)).toEqual(['d'])
  })

  test('that the next in line cannot probe are taken on by the one after it, in time', async () => {
    for (const name of ['a', 'b', 'c']) await join(name, { probers: 1 })
    await walk(settleMs)
    const [first] = (await probers()).get('m0')!
    await kill(first!)
    await walk(settleMs)
    const [second] = (await probers()).get('m0')!
    nodes.find(({ name }) => name === second)!.outcome = () => 'local-error'
    const third = nodes.find(({ name }) => name !== second)!
    third.outcome = (uid) => (uid === 'm0' ? 'failure' : 'success')
    await walk(120_000)
    expect((await probers()).get('m0')).toContain(third.name)
    expect(nodes.map((node) => says(node, 'm0'))).toEqual([false, false])
  })

  test('are probed by every node under local-only', async () => {
    for (const name of ['a', 'b', 'c']) await join(name, { policy: 'local-only', probers: 1 })
    await walk(settleMs)
    expect(counts(await probers())).toEqual([3])
  })

  test('move to nodes that know them if the next in line do not, as in a wave', async () => {
    const fewer = targets.slice(1)
    for (const name of ['a', 'b', 'c']) await join(name, { probers: 1, targets: fewer })
    await join('canary', { probers: 1 })
    await walk(settleMs)
    const found = await probers()
    expect(found.get('m0')).toEqual(['canary'])
    expect(counts(found)).toEqual([1])
  })

  test('are all probed though two nodes have one name, and clocks are an hour off', async () => {
    await join('a', { probers: 1 })
    await join('b', { probers: 1, clockOffMs: 3_600_000 })
    await join('b', { probers: 1, clockOffMs: -3_600_000 })
    await walk(settleMs)
    const found = await probers()
    expect([...found.values()].every((names) => names.length > 0)).toBe(true)
  })
})

describe("a node's view of a member that it does not probe", () => {
  const policies = ['local-or-global-fallback', 'prefer-local', 'global-any-healthy'] as const
  test.each([...policies, 'global-quorum'] as const)(
    'is the word of those that do: %s',
    async (policy) => {
      for (const name of ['a', 'b', 'c', 'd']) await join(name, { policy, probers: 1 })
      await walk(settleMs)
      for (const node of nodes) node.outcome = (uid) => (uid === 'm3' ? 'failure' : 'success')
      await walk(15_000)
      expect(nodes.map((node) => says(node, 'm3'))).toEqual([false, false, false, false])
      expect(nodes.map((node) => says(node, 'm4'))).toEqual([true, true, true, true])
      const reasons = nodes.map((node) => node.view.healthOf('m3', address)?.reason)
      expect(new Set(reasons)).toEqual(new Set(['simulated failure']))
    },
  )

  test('is what its own site finds, as far as the policy goes by that', async () => {
    for (const [policy, expected] of [
      ['local-or-global-fallback', [false, false, true, true]],
      ['global-any-healthy', [true, true, true, true]],
    ] as const) {
      for (const name of ['a', 'b']) await join(name, { policy, probers: 1, site: 'fra1' })
      for (const name of ['c', 'd']) await join(name, { policy, probers: 1, site: 'sin1' })
      for (const { name } of nodes) {
        const cannot = name === 'a' || name === 'b'
        nodes.find((node) => node.name === name)!.outcome = () => (cannot ? 'failure' : 'success')
      }
      await walk(settleMs)
      expect(nodes.map((node) => says(node, 'm1'))).toEqual(expected)
      for (const { name } of [...nodes]) await kill(name)
    }
  })

  test('stands while the one that probed it is gone, until another has probed it', async () => {
    for (const name of ['a', 'b', 'c']) {
      const node = await join(name, { probers: 1 })
      node.outcome = (uid) => (uid === 'm7' ? 'failure' : 'success')
    }
    await walk(settleMs)
    const [owner] = (await probers()).get('m7')!
    await kill(owner!)
    for (let waited = 0; waited < 60_000; waited += 1_000) {
      await walk(1_000)
      expect(nodes.map((node) => says(node, 'm7'))).toEqual([false, false])
      expect(nodes.map((node) => says(node, 'm8'))).toEqual([true, true])
    }
    expect((await probers()).get('m7')).toHaveLength(1)
  })

  test('opens the gate of a member that warms up, and is no start of its own', async () => {
    const plain = targets.slice(1)
    const warming = probeTarget('m0', {}, address, 2)
    for (const name of ['a', 'b', 'c']) await join(name, { probers: 1, targets: plain })
    await walk(settleMs)
    const arrivals = new Set([`m0 ${address}`])
    for (const { view } of nodes) view.setTargets([warming, ...plain], { arrivals })
    expect(nodes.map(({ view }) => view.healthOf('m0', address)?.isWarming)).toEqual([
      true,
      true,
      true,
    ])
    await walk(settleMs)
    expect((await probers()).get('m0')).toHaveLength(1)
    expect(nodes.map(({ view }) => view.healthOf('m0', address)?.isWarming)).toEqual([
      false,
      false,
      false,
    ])
  })
})

test('while the bus is away each node probes all again, and no member goes down', async () => {
  const { bus: inner, broken, away, back } = breakableBus()
  bus = broken
  // Words on it are too old in the moment in which the others are missed.
  const often = probeTarget('m5', { intervalMs: 5_000 }, address)
  const given = targets.map((one) => (one.memberUid === 'm5' ? often : one))
  for (const name of ['a', 'b', 'c']) await join(name, { probers: 1, targets: given })
  await walk(settleMs)
  // All have probed it when they began: what they found then is no longer so.
  for (const node of nodes) node.outcome = (uid) => (uid === 'm5' ? 'failure' : 'success')
  await walk(15_000)
  away()
  for (let waited = 0; waited < 60_000; waited += 500) {
    await walk(500)
    for (const node of nodes) expect([says(node, 'm5'), says(node, 'm6')]).toEqual([false, true])
  }
  expect(counts(await probers())).toEqual([3])
  back()
  await walk(settleMs)
  expect(counts(await probers())).toEqual([1])
  expect(await inner.load()).not.toEqual([])
})

describe('probe agents', () => {
  test('are told from nodes, and what they find counts as of any node', async () => {
    const node = await join('node', { site: 'near' })
    const agent = await join('agent', { site: 'far', isAgent: true })
    node.outcome = () => 'failure'
    await walk(settleMs)
    expect([node.view.peers(), node.view.agents()]).toEqual([[], ['agent']])
    expect([agent.view.peers(), agent.view.agents()]).toEqual([['node'], []])
    expect(says(node, 'm1')).toBe(true)
  })

  test('beyond what is permitted, last by name, do not count until there is room', async () => {
    const node = await join('node', { site: 'near', probers: 1 })
    const first = await join('agent-1', { site: 'near', isAgent: true, probers: 1 })
    const last = await join('agent-2', { site: 'near', isAgent: true, probers: 1 })
    node.outcome = first.outcome = () => 'failure'
    node.view.permitAgents(1)
    last.outcome = () => 'success'
    // The other agent leaves some to this one; the node sees that nobody has a word on them.
    await walk(2 * settleMs)
    expect(members.map((uid) => says(node, uid))).toEqual(members.map(() => false))
    // The other nodes probe the members of the missing one.
    const found = await probers()
    expect(members.every((uid) => found.get(uid)!.some((name) => name !== 'agent-2'))).toBe(true)
    node.view.permitAgents(2)
    await walk(settleMs)
    expect(members.some((uid) => says(node, uid) === true)).toBe(true)
  })

  test('count themselves up to a permitted number, and ignore those beyond it', async () => {
    const first = await join('agent-1', { site: 'far', isAgent: true, probers: 1 })
    await join('agent-2', { site: 'far', isAgent: true, probers: 1 })
    first.view.permitAgents(1)
    await walk(2 * settleMs)
    const found = await probers()
    expect(members.every((uid) => found.get(uid)!.includes('agent-1'))).toBe(true)
  })

  test('are heard by a node that no other node hears, which is alone until then', async () => {
    const node = await join('node', { isLone: true, probers: 0 })
    node.outcome = () => 'failure'
    await walk(15_000)
    expect([node.view.peers(), node.view.agents()]).toEqual([null, null])
    expect([node.view.peersOf('m1', address), says(node, 'm1')]).toEqual([null, false])
    expect(await bus.load()).toEqual([])
    await join('agent', { site: 'far', isAgent: true })
    await walk(settleMs)
    expect([node.view.agents(), says(node, 'm1')]).toEqual([['agent'], true])
  })
})
