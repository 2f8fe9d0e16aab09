// Keeps this node to its share of the members, as nodes of its site join, leave and report.
import type { Clock } from '#lib/clock.ts'
import { healthLimits } from '#health/limits.ts'
import { targetKey } from '#health/probes/probe.ts'
import { ProberShare } from '#health/spread/prober-share.ts'
import type { MonitoredTarget } from '#health/thread/messages.ts'
import type { OwnMonitor } from './member-health.ts'
import { peerStaleAfterMs } from './peer-table.ts'
import type { PeerTable } from './peer-table.ts'

interface SiteShareParts {
  readonly node: string
  readonly site: string
  /** How many nodes of the site probe a member; 0: all. */
  readonly probers: number
  readonly table: PeerTable
  readonly local: OwnMonitor
  readonly clock: Clock
}

/** Measures times by this node's clock: those of others do not matter. */
export class SiteShare {
  readonly #parts: SiteShareParts
  readonly #share: ProberShare
  #targets: readonly MonitoredTarget[] = []
  /** Index of the next target to examine. */
  #nextAt = 0

  constructor(parts: SiteShareParts) {
    this.#parts = parts
    this.#share = new ProberShare(parts)
    if (parts.probers > 0) parts.local.probeOnly((key) => this.#share.probes(key))
  }

  /** To be called before the monitor's. */
  setTargets(targets: readonly MonitoredTarget[]): void {
    this.#targets = targets
    this.#nextAt = 0
    if (this.#parts.probers > 0) this.#share.keepOnly(new Set(targets.map(keyOf)))
  }

  /**
   * Called once a second. Examines all members when a node has joined or left, else a part of them.
   */
  tick(): void {
    const { site, probers, table, local, clock } = this.#parts
    if (probers === 0) return
    const nowMs = clock.monotonicMs()
    // A node that was silent for so long is replaced, before its verdicts become stale.
    const others = table.nodesOfSite(site, healthLimits.proberGoneMs, nowMs)
    const isOther = this.#share.setOthers(others)
    let isMoved = false
    for (const target of isOther ? this.#targets : this.#nextPart()) {
      if (this.#judge(target, nowMs)) isMoved = true
    }
    if (isMoved) local.probeOnly((key) => this.#share.probes(key))
  }

  #judge(target: MonitoredTarget, nowMs: number): boolean {
    const { site, table } = this.#parts
    const key = keyOf(target)
    const patienceMs = peerStaleAfterMs(target.check.intervalMs)
    const votes = table.votesOf(key, patienceMs, nowMs)
    const tellers = votes.map(({ node }) => node).filter((node) => table.isOfSite(node, site))
    return this.#share.judge(key, tellers, patienceMs, nowMs)
  }

  #nextPart(): readonly MonitoredTarget[] {
    const count = Math.ceil(this.#targets.length / healthLimits.peerSweepTicks)
    const part = this.#targets.slice(this.#nextAt, this.#nextAt + count)
    this.#nextAt += part.length
    if (this.#nextAt >= this.#targets.length) this.#nextAt = 0
    return part
  }
}

const keyOf = ({ memberUid, ipAddress }: MonitoredTarget): string => targetKey(memberUid, ipAddress)
