import { afterEach, describe, expect, test } from 'vitest'
import { healthLimits } from '#health/limits.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { HealthPolicy } from '#health/view/policy.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { createHealthView } from '#health/view/view.ts'
import { createMemoryPeerHealth } from '#state/memory/peer-health.ts'
import type { PeerHealth } from '#state/ports/peer-health.ts'
import { breakableBus } from '../breakable-bus.ts'
import { probeTarget } from '../check.ts'
import { simulatedMonitor } from '../simulated-monitor.ts'
import type { SimulatedMonitor } from '../simulated-monitor.ts'

const logged: string[] = []
const note = (_fields: object, message: string): void => void logged.push(message)
const log = { info: note, warn: note, error: note }
const [uid, ip] = ['m1', '127.0.0.1']

interface Node {
  readonly name: string
  readonly simulated: SimulatedMonitor
  readonly view: HealthMonitor
  /** Results of its probes, and their times. */
  outcome: Outcome
  rttMs: number
  /** Health that its routing was told to look up, by time. */
  readonly seen: string[]
}

/** Nodes on one bus; each has a clock of its own, and all are walked together. */
class Cluster {
  readonly nodes: Node[] = []
  bus: { -readonly [Name in keyof PeerHealth]: PeerHealth[Name] } = createMemoryPeerHealth()
  /** Wall clocks of two nodes differ by so much. */
  skewMs = 60_000
  readonly #policy: HealthPolicy

  constructor(policy: HealthPolicy) {
    this.#policy = policy
  }

  async add(
    name: string,
    outcome: Outcome,
    { rttMs = 10, mayTell }: { readonly rttMs?: number; readonly mayTell?: Promise<unknown> } = {},
  ): Promise<Node> {
    const simulated = await simulatedMonitor(this.nodes.length + 1, undefined, false)
    const { world, monitor } = simulated
    // A node that joins later starts at the time of the others.
    world.nowMs = this.nodes[0]?.simulated.world.nowMs ?? world.nowMs
    world.wallOffsetMs += this.nodes.length * this.skewMs
    const view = createHealthView({
      local: monitor,
      signals: null,
      peers: { node: name, bus: this.bus, site: '', probers: 0 },
      policy: this.#policy,
      quorumMinPercent: 51,
      clock: world.clock,
      after: world.after,
      ...(mayTell === undefined ? {} : { mayTell }),
      log,
    })
    const node: Node = { name, simulated, view, outcome, rttMs, seen: [] }
    world.answer = () => ({ outcome: node.outcome, afterMs: node.rttMs })
    view.onUpdate((owners) => {
      for (const { memberUid, ipAddress } of owners) {
        const health = view.healthOf(memberUid, ipAddress)
        if (health !== undefined) node.seen.push(health.healthy ? '+' : '-')
      }
    })
    view.start()
    await new Promise((resolve) => setImmediate(resolve))
    view.setTargets([probeTarget(uid, {}, ip)])
    this.nodes.push(node)
    return node
  }

  async walk(durationMs: number): Promise<void> {
    for (let walked = 0; walked < durationMs; walked += 500) {
      for (const { simulated } of this.nodes) simulated.world.walk(500)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Node `name` is gone without a word. */
  async kill(name: string): Promise<void> {
    const at = this.nodes.findIndex((node) => node.name === name)
    await this.nodes.splice(at, 1)[0]!.view.stop()
  }

  async stop(): Promise<void> {
    for (const { view } of this.nodes) await view.stop()
  }
}

let cluster: Cluster
afterEach(() => cluster.stop())

async function clusterOf(policy: HealthPolicy, ...outcomes: Outcome[]): Promise<Node[]> {
  cluster = new Cluster(policy)
  for (const [i, outcome] of outcomes.entries()) await cluster.add(`n${i}`, outcome)
  return cluster.nodes
}

const sign = ({ view }: Node): string => (view.verdictOf(uid, ip) === true ? '+' : '-')
const signs = (): string => cluster.nodes.map(sign).join('')

describe('nodes that see a member differently', () => {
  const rows: readonly [HealthPolicy, Outcome[], string][] = [
    ['local-only', ['success', 'failure', 'failure'], '+--'],
    ['prefer-local', ['success', 'failure', 'failure'], '+--'],
    ['local-or-global-fallback', ['success', 'failure', 'failure'], '+--'],
    ['global-any-healthy', ['success', 'failure', 'failure'], '+++'],
    ['global-any-healthy', ['failure', 'failure', 'failure'], '---'],
    ['global-quorum', ['success', 'failure', 'failure'], '---'],
    ['global-quorum', ['success', 'success', 'failure'], '+++'],
    // A node that cannot probe: its word is missing, and it takes that of the others or its own.
    ['local-only', ['local-error', 'failure', 'failure'], '+--'],
    ['prefer-local', ['local-error', 'failure', 'failure'], '---'],
    ['local-or-global-fallback', ['local-error', 'failure', 'success'], '+-+'],
    ['global-quorum', ['local-error', 'failure', 'success'], '---'],
  ]
  test.each(rows)('under %s with %j: %s', async (policy, outcomes, expected) => {
    await clusterOf(policy, ...outcomes)
    await cluster.walk(30_000)
    expect(signs()).toBe(expected)
  })

  test('fall back on the others without their own probes, or keep their last verdict', async () => {
    for (const [policy, expected] of [
      ['local-or-global-fallback', '+'],
      ['prefer-local', '-'],
      ['local-only', '-'],
    ] as const) {
      const [blind] = await clusterOf(policy, 'failure', 'success')
      await cluster.walk(30_000)
      expect(sign(blind!)).toBe('-')
      blind!.outcome = 'local-error'
      await cluster.walk(60_000)
      expect([policy, sign(blind!)]).toEqual([policy, expected])
      await cluster.stop()
    }
  })

  test('a change reaches the others within two seconds', async () => {
    const [first, second] = await clusterOf('global-any-healthy', 'success', 'failure')
    await cluster.walk(30_000)
    first!.outcome = 'failure'
    while (first!.simulated.world.changes.length < 1) await cluster.walk(500)
    await cluster.walk(2_000)
    expect(second!.seen.at(-1)).toBe('-')
  })
})

describe('a node that falls silent', () => {
  test('does not count after three intervals, and routing is told', async () => {
    const [first] = await clusterOf('global-any-healthy', 'failure', 'success')
    await cluster.walk(30_000)
    expect(sign(first!)).toBe('+')
    await cluster.kill('n1')
    first!.seen.length = 0
    await cluster.walk(20_000)
    expect([sign(first!), first!.seen.length]).toEqual(['+', 0])
    await cluster.walk(20_000)
    expect(first!.seen.at(-1)).toBe('-')
  })

  test('counts again when it is back', async () => {
    const [first] = await clusterOf('global-any-healthy', 'failure', 'success')
    await cluster.walk(30_000)
    await cluster.kill('n1')
    await cluster.walk(60_000)
    expect(sign(first!)).toBe('-')
    await cluster.add('n1', 'success')
    await cluster.walk(20_000)
    expect(sign(first!)).toBe('+')
  })

  test('with nothing new to say is not silent: an hour later its word still counts', async () => {
    const [first] = await clusterOf('global-any-healthy', 'failure', 'success')
    await cluster.walk(3_600_000)
    expect(sign(first!)).toBe('+')
    const heard = cluster.nodes[1]!.simulated.world.changes.length
    expect(heard).toBe(0)
  })
})

describe('a node that starts', () => {
  test('takes the word of the others before its first probe', async () => {
    await clusterOf('local-or-global-fallback', 'failure')
    // What was said before it listened has an age by the wall clock only.
    cluster.skewMs = 0
    await cluster.walk(30_000)
    const late = await cluster.add('late', 'failure')
    expect(late.simulated.world.started).toEqual([])
    expect(late.seen).toEqual(['-'])
  })

  test('goes on with its own view when the bus is away, and speaks when it is back', async () => {
    const inner = createMemoryPeerHealth()
    let isAway = true
    cluster = new Cluster('global-quorum')
    const refused = (): Promise<never> => Promise.reject(new Error('no connection'))
    cluster.bus = {
      publish: (update) => (isAway ? refused() : inner.publish(update)),
      load: () => (isAway ? refused() : inner.load()),
      subscribe: inner.subscribe,
    }
    await cluster.add('n0', 'success')
    await cluster.add('n1', 'failure')
    await cluster.walk(30_000)
    expect(signs()).toBe('+-')
    isAway = false
    await cluster.walk(10_000)
    expect(signs()).toBe('--')
  })
})

describe('a node that has heard nothing for a while', () => {
  const ipAddress = ip
  const word = (healthy: boolean, atMs: number) => ({
    ...{ node: 'far', memberUid: uid, ipAddress, healthy, score: healthy ? 1 : 0 },
    ...{ rttMs: 5, atMs },
  })

  async function lateNode() {
    const { broken, ...rest } = breakableBus()
    const { bus } = rest
    cluster = new Cluster('global-any-healthy')
    cluster.bus = broken
    const node = await cluster.add('n0', 'failure')
    const { world } = node.simulated
    const say = (healthy: boolean) =>
      bus.publish({
        ...{ node: 'far', withdrawn: [], atMs: world.clock.nowMs() },
        changed: [word(healthy, world.clock.nowMs())],
      })
    await cluster.walk(20_000)
    await say(true)
    expect(sign(node)).toBe('+')
    return { node, world, say, ...rest }
  }

  test('takes over what was said meanwhile', async () => {
    const { node, away, back, say } = await lateNode()
    away()
    await say(false)
    await cluster.walk(1_000)
    expect(sign(node)).toBe('+')
    back()
    await cluster.walk(500)
    expect([sign(node), node.seen.at(-1)]).toEqual(['-', '-'])
  })

  test('reads again what it could not read, though the bus tells of nothing more', async () => {
    const { node, away, tellOfGap, backUntold, say } = await lateNode()
    away()
    await say(false)
    tellOfGap()
    await cluster.walk(500)
    expect(sign(node)).toBe('+')
    backUntold()
    await cluster.walk(3_000)
    expect(sign(node)).toBe('-')
  })

  test('tries less and less often to read, until it has', async () => {
    const { away, tellOfGap, backUntold, loads } = await lateNode()
    away()
    tellOfGap()
    const before = loads()
    await cluster.walk(10 * 60_000)
    const tried = loads() - before
    expect(tried).toBeGreaterThan(10)
    expect(tried).toBeLessThan(20)
    backUntold()
    await cluster.walk(10 * 60_000)
    expect(loads() - before).toBe(tried + 1)
  })

  test('reads again when more arrived meanwhile than it keeps', async () => {
    const { node, bus, loads, back, say } = await lateNode()
    let letGo = (): void => undefined
    const { load } = cluster.bus
    cluster.bus.load = async () => {
      await new Promise<void>((resolve) => (letGo = resolve))
      return await load()
    }
    const before = loads()
    back()
    for (let i = 0; i <= healthLimits.peerBacklogMax; i++) await say(false)
    cluster.bus.load = load
    letGo()
    await cluster.walk(2_000)
    expect(loads() - before).toBe(2)
    expect([sign(node), (await bus.load()).length > 0]).toEqual(['-', true])
  })

  test('does not hold on to what was taken back meanwhile', async () => {
    const { node, bus, world, away, back } = await lateNode()
    away()
    const withdrawn = [{ memberUid: uid, ipAddress }]
    await bus.publish({ node: 'far', changed: [], withdrawn, atMs: world.clock.nowMs() })
    back()
    await cluster.walk(500)
    await bus.publish({ node: 'far', changed: [], withdrawn: [], atMs: world.clock.nowMs() })
    expect([sign(node), node.view.peersOf(uid, ip)]).toEqual(['-', []])
  })

  test('does not take the word of one that is gone for a new one', async () => {
    const { node, away, back } = await lateNode()
    away()
    await cluster.walk(60_000)
    expect(sign(node)).toBe('-')
    back()
    await cluster.walk(500)
    expect([sign(node), node.view.peers()]).toEqual(['-', []])
  })

  test('keeps what arrives while it reads the rest', async () => {
    const { node, bus, away, back, say } = await lateNode()
    away()
    let letGo = (): void => undefined
    const loaded = await bus.load()
    cluster.bus.load = () =>
      new Promise((resolve) => {
        letGo = () => resolve(loaded)
      })
    back()
    await say(false)
    letGo()
    await cluster.walk(500)
    expect(sign(node)).toBe('-')
  })
})

describe('the verdict of each node', () => {
  test('is there beside what routing goes by', async () => {
    const [first] = await clusterOf('global-any-healthy', 'failure', 'success', 'failure')
    await cluster.walk(20_000)
    expect(first!.view.healthOf(uid, ip)!.healthy).toBe(true)
    expect(first!.view.ownHealthOf(uid, ip)!.healthy).toBe(false)
    const said = first!.view.peersOf(uid, ip)!.map(({ node, healthy }) => `${node} ${healthy}`)
    expect(said.sort()).toEqual(['n1 true', 'n2 false'])
    expect([...first!.view.peers()!].sort()).toEqual(['n1', 'n2'])
  })

  test('a process that replaces another one speaks after it, and is no second node', async () => {
    logged.length = 0
    cluster = new Cluster('global-any-healthy')
    // The clock of one machine, for both processes.
    cluster.skewMs = 0
    for (const name of ['n0', 'n1']) await cluster.add(name, 'failure')
    await cluster.walk(10_000)
    const opened = Promise.withResolvers<null>()
    const next = await cluster.add('n1', 'success', { mayTell: opened.promise })
    await cluster.walk(20_000)
    expect(signs(), 'n0 hears the process before').toBe('--+')
    const [before] = cluster.nodes.splice(1, 1)
    await before!.view.stop()
    opened.resolve(null)
    await cluster.walk(20_000)
    expect(signs()).toBe('++')
    expect(sign(next)).toBe('+')
    expect(logged.filter((line) => line.includes('the name of this one'))).toEqual([])
  })

  test('two nodes of one name are told of, once', async () => {
    logged.length = 0
    await clusterOf('local-only', 'success', 'success')
    await cluster.walk(20_000)
    expect(logged).toEqual([])
    await cluster.add('n0', 'failure')
    await cluster.walk(20_000)
    const told = logged.filter((line) => line.includes('state.nodeName'))
    expect(told).toHaveLength(2)
  })
})

describe('the round trip time', () => {
  test('is the least of the cluster, and its own again when the others are silent', async () => {
    const [far] = await clusterOf('local-only', 'success', 'success')
    far!.rttMs = 80
    await cluster.walk(60_000)
    expect(far!.view.healthOf(uid, ip)!.rttMs).toBe(10)
    expect(far!.simulated.monitor.healthOf(uid, ip)!.rttMs).toBe(80)
    await cluster.kill('n1')
    await cluster.walk(170_000)
    expect(far!.view.healthOf(uid, ip)!.rttMs).toBe(10)
    await cluster.walk(20_000)
    expect(far!.view.healthOf(uid, ip)!.rttMs).toBe(80)
  })

  test('comes from others for a node that has measured none', async () => {
    const [blind] = await clusterOf('local-only', 'local-error', 'success')
    await cluster.walk(60_000)
    expect(blind!.view.healthOf(uid, ip)!.rttMs).toBe(10)
  })
})
