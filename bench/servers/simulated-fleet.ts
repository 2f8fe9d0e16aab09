// Nodes in one process that share members' health through a real Redis, with a node's adapters and
// publisher. Their probes are simulated: results are set from outside.
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import { createRedisPeerHealth } from '#state/redis/peer-health.ts'
import { prefixFor, Redis } from '#state/redis/redis.ts'
import { redisTarget } from '#state/redis/target.ts'
import { healthLimits } from '#health/limits.ts'
import { targetKey } from '#health/probes/probe.ts'
import { countBefore, memberHash, rankedNode } from '#health/spread/rendezvous.ts'
import type { MemberHealth } from '#health/view/member-health.ts'
import { PeerPublisher } from '#health/view/peer-publisher.ts'
import { PeerTable } from '#health/view/peer-table.ts'

export interface FleetShape {
  readonly nodes: number
  readonly sites: number
  readonly members: number
  /** 0: all nodes probe. */
  readonly probers: number
}

/** A report of another node that a member is down. */
interface Heard {
  readonly key: string
  readonly node: string
  readonly atMs: number
}

interface Probed {
  readonly owner: VerdictOwner
  readonly key: string
  healthy: boolean
  rttMs: number
}

const prefix = 'gslbd:'
const ipAddress = '192.0.2.1'
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
/** Long, since the machine is busy. */
const commandTimeoutMs = 30_000
const startMs = 60_000

class SimulatedNode {
  readonly name: string
  readonly site: string
  /** Members that it probes, by key. */
  readonly probed = new Map<string, Probed>()
  readonly #redis: Redis
  readonly #publisher: PeerPublisher
  readonly #bus: ReturnType<typeof createRedisPeerHealth>
  /** Reports received here, in order. */
  readonly heardDown: Heard[] = []
  /** null: it only receives. Tables of all nodes would need the memory of all nodes. */
  table: PeerTable | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(name: string, site: string, url: string) {
    this.name = name
    this.site = site
    const target = redisTarget({ url })
    if (!target.ok) throw new Error(target.error)
    this.#redis = new Redis({
      ...{ target: target.value, prefix: prefixFor(target.value, prefix) },
      ...{ clock: systemClock, log, commandTimeoutMs },
    })
    this.#bus = createRedisPeerHealth(this.#redis)
    this.#publisher = new PeerPublisher({
      ...{ node: name, site, peers: this.#bus, clock: systemClock, log },
      local: { healthOf: (uid, address) => this.#healthOf(targetKey(uid, address)) },
    })
  }

  probe(key: string, owner: VerdictOwner): void {
    this.probed.set(key, { owner, key, healthy: true, rttMs: 20 })
    this.#publisher.note([owner])
  }

  finds(key: string, change: Partial<Pick<Probed, 'healthy' | 'rttMs'>>): void {
    const probed = this.probed.get(key)
    if (probed === undefined) return
    Object.assign(probed, change)
    this.#publisher.note([probed.owner])
  }

  /** Publishes all of its verdicts, before the nodes listen. */
  async tellAll(): Promise<void> {
    const deadlineMs = performance.now() + startMs
    while (this.#redis.status().state !== 'up') {
      if (performance.now() > deadlineMs) throw new Error('Redis is not reached')
      await sleep(10)
    }
    const calls = Math.ceil(this.probed.size / healthLimits.peerBatchMax)
    for (let i = 0; i < calls; i++) await this.#publisher.tick()
  }

  listen(): void {
    this.#bus.subscribe((update) => {
      const atMs = performance.now()
      this.table?.take(update, atMs)
      if (update.node === this.name) return
      for (const { memberUid, healthy } of update.changed) {
        if (healthy) continue
        this.heardDown.push({ key: targetKey(memberUid, ipAddress), node: update.node, atMs })
      }
    })
  }

  /** Ticks as the view does, each node at another moment of the second. */
  tickFrom(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => void this.#publisher.tick(), healthLimits.peerTickMs)
    }, delayMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#redis.close()
  }

  #healthOf(key: string): MemberHealth | undefined {
    const probed = this.probed.get(key)
    if (probed === undefined) return undefined
    const { healthy, rttMs } = probed
    return {
      ...{ isProbed: true, healthy, score: 1, rttMs, isWarming: false, warmupPasses: 0 },
      ...{ knowledge: 'known', reason: healthy ? '' : 'connection refused', intervalMs: 10_000 },
      ...{ sinceMs: 1_800_000_000_000, lastCheckMs: 0, lastRttMs: 0 },
    }
  }
}

export class SimulatedFleet {
  readonly nodes: readonly SimulatedNode[]
  /** By key: the nodes that probe the member. */
  readonly probersOf = new Map<string, readonly SimulatedNode[]>()
  readonly words: number

  constructor({ nodes, sites, members, probers }: FleetShape, url: string) {
    this.nodes = Array.from({ length: nodes }, (_, i) => {
      const site = `site-${i % sites}`
      return new SimulatedNode(`dns-${i}.${site}.example.net`, site, url)
    })
    const ranked = this.nodes.map((node) => ({ node, ...rankedNode(node.name) }))
    for (let member = 0; member < members; member++) {
      const memberUid = `0191f7a4-5b00-7000-8000-${String(member).padStart(12, '0')}`
      const key = targetKey(memberUid, ipAddress)
      const hash = memberHash(key)
      const chosen = ranked.filter((own) => {
        const others = ranked.filter((one) => one !== own && one.node.site === own.node.site)
        return probers === 0 || countBefore(own, others, hash) < probers
      })
      for (const { node } of chosen) node.probe(key, { memberUid, ipAddress })
      this.probersOf.set(
        key,
        chosen.map(({ node }) => node),
      )
    }
    this.words = this.nodes.reduce((sum, { probed }) => sum + probed.size, 0)
  }

  /** Resolves when all verdicts are in Redis, and all nodes listen and publish. */
  async start(wholeNodes: number): Promise<void> {
    for (const node of this.nodes) await node.tellAll()
    for (const [i, node] of this.nodes.entries()) {
      if (i < wholeNodes) node.table = new PeerTable(node.name)
      node.listen()
      node.tickFrom((i * healthLimits.peerTickMs) / this.nodes.length)
    }
    await sleep(1_000)
  }

  /** Changes the round trip time of `share` of all verdicts each second. */
  async jitter(share: number, durationMs: number, seed: number): Promise<void> {
    const random = new Random(seed)
    const words = this.nodes.flatMap((node) =>
      [...node.probed.keys()].map((key) => ({ node, key })),
    )
    const steps = Math.ceil(durationMs / 100)
    const perStep = (words.length * share) / 10
    for (let step = 0, due = 0; step < steps; step++) {
      for (due += perStep; due >= 1; due--) {
        const { node, key } = words[random.below(words.length)]!
        node.finds(key, { rttMs: 20 + random.below(100) })
      }
      await sleep(100)
    }
  }

  close(): void {
    for (const node of this.nodes) node.close()
  }
}
