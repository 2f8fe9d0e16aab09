// Publishes this node's verdicts to its peers: changes soon, and a heartbeat.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { PeerHealth, PeerUpdate, PeerVerdict } from '#state/ports/peer-health.ts'
import { healthLimits } from '#health/limits.ts'
import type { HealthMonitor, MemberHealth } from './member-health.ts'
import { targetKey } from '#health/probes/probe.ts'

interface PeerPublisherParts {
  readonly node: string
  /** Site of this node. */
  readonly site: string
  /** True: an agent, which only probes. Left out: a node. */
  readonly isAgent?: boolean
  readonly peers: PeerHealth
  /** Verdicts of this node's own probes. */
  readonly local: Pick<HealthMonitor, 'healthOf'>
  readonly clock: Clock
  readonly log: Log
}

/** More than are under way at once: one a second is sent, and answers come within one. */
const sentMax = 16

export class PeerPublisher {
  readonly #parts: PeerPublisherParts
  /** Members whose last published verdict may be outdated. */
  #dirty = new Map<string, VerdictOwner>()
  readonly #published = new Map<string, VerdictOwner>()
  #isBusy = false
  #isAway = false
  /** Times at which recent updates were sent. */
  #sentAtMs: number[] = []
  #beatMs = -Infinity

  constructor(parts: PeerPublisherParts) {
    this.#parts = parts
  }

  note(owners: readonly VerdictOwner[]): void {
    for (const { memberUid, ipAddress } of owners) {
      this.#dirty.set(targetKey(memberUid, ipAddress), { memberUid, ipAddress })
    }
  }

  /** False for an update in this node's name that this process has not sent. */
  hasSent({ atMs }: PeerUpdate): boolean {
    return this.#sentAtMs.includes(atMs)
  }

  /** Called once a second. Publishes changes, or confirms the rest when that is due. */
  async tick(): Promise<void> {
    const { clock } = this.#parts
    const isBeat = clock.monotonicMs() - this.#beatMs >= healthLimits.peerBeatMs
    if (this.#isBusy || (!isBeat && this.#dirty.size === 0)) return
    if (isBeat) this.#noteLost()
    const batch = [...this.#dirty].slice(0, healthLimits.peerBatchMax)
    for (const [key] of batch) this.#dirty.delete(key)
    this.#isBusy = true
    await this.#publish(new Map(batch))
    this.#isBusy = false
  }

  /**
   * A beat confirms all that was published: members that are no longer known are withdrawn with it.
   */
  #noteLost(): void {
    for (const [key, owner] of this.#published) {
      const { knowledge } = this.#healthOf(owner) ?? {}
      if (knowledge !== 'known') this.#dirty.set(key, owner)
    }
  }

  async #publish(batch: ReadonlyMap<string, VerdictOwner>): Promise<void> {
    const { peers, clock, log } = this.#parts
    assert(this.#isBusy, 'one update is sent at a time')
    const update = this.#updateOf(batch)
    this.#sentAtMs = [...this.#sentAtMs, update.atMs].slice(-sentMax)
    try {
      await peers.publish(update)
    } catch (error) {
      // Verdicts are looked up when they are sent; members that vanished unsent need none.
      const noted = [...batch, ...this.#dirty]
      this.#dirty = new Map(noted.filter(([key, owner]) => this.#isWorthTelling(key, owner)))
      if (!this.#isAway) {
        const { message: reason } = error as Error
        log.warn({ reason }, 'health cannot be told to the other nodes; it is tried again')
      }
      this.#isAway = true
      return
    }
    this.#beatMs = clock.monotonicMs()
    for (const verdict of update.changed) {
      this.#published.set(targetKey(verdict.memberUid, verdict.ipAddress), verdict)
    }
    for (const owner of update.withdrawn) {
      this.#published.delete(targetKey(owner.memberUid, owner.ipAddress))
    }
    if (this.#isAway) log.info({}, 'health is told to the other nodes again')
    this.#isAway = false
  }

  #updateOf(batch: ReadonlyMap<string, VerdictOwner>): PeerUpdate {
    const { node, site, isAgent = false, clock } = this.#parts
    const atMs = clock.nowMs()
    const changed: PeerVerdict[] = []
    const withdrawn: VerdictOwner[] = []
    for (const [key, { memberUid, ipAddress }] of batch) {
      const health = this.#healthOf({ memberUid, ipAddress })
      if (health?.knowledge === 'known') {
        const { healthy, score, rttMs, reason, sinceMs, isWarming } = health
        const word = { healthy, score, rttMs, reason, sinceMs }
        const gate = isWarming ? { isWarming } : {}
        changed.push({ node, memberUid, ipAddress, ...word, ...gate, atMs })
      } else if (this.#published.has(key)) {
        withdrawn.push({ memberUid, ipAddress })
      }
    }
    return { node, site, ...(isAgent ? { isAgent } : {}), changed, withdrawn, atMs }
  }

  #isWorthTelling(key: string, owner: VerdictOwner): boolean {
    return this.#published.has(key) || this.#healthOf(owner) !== undefined
  }

  #healthOf({ memberUid, ipAddress }: VerdictOwner): MemberHealth | undefined {
    return this.#parts.local.healthOf(memberUid, ipAddress)
  }
}
