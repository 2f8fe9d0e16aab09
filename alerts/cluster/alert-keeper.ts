// Runs the rounds of alerts. Each node reports its findings to the database; the leader also opens,
// resolves and sends alerts.
import { conditionOf } from '#alerts/conditions.ts'
import type { ConditionSettings } from '#alerts/condition.ts'
import type { AlertFacts } from '#alerts/facts.ts'
import type { SendByChannel } from '#alerts/send-by-channel.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import type { AlertStore, Finding, NodeReport } from '#state/ports/alerts.ts'
import { Deliverer } from './deliverer.ts'
import type { DeliveryCounts } from './deliverer.ts'
import { Findings, keyOf } from './findings.ts'
import { Leadership } from './leadership.ts'
import { clusterLimits } from './limits.ts'
import { NodeWatch } from './node-watch.ts'
import { Openings } from './openings.ts'

/** What the composition knows; the rest of the facts is known here. */
export type NodeAlertFacts = Omit<AlertFacts, 'missing' | 'commits' | 'nowMs'> & {
  /** That this node answers from; '': none yet. */
  readonly commit: () => string
}

export interface AlertKeeperParts {
  readonly store: AlertStore
  /** False: a database of the node's own that nothing was written to yet. */
  readonly isThere: () => boolean
  /** The database is inside this process. */
  readonly isAlone: boolean
  /** This node's name. */
  readonly node: string
  /** Unlike that of any other process. */
  readonly holder: string
  readonly facts: NodeAlertFacts
  readonly settings: ConditionSettings & { readonly groupWaitMs: number }
  readonly send: SendByChannel
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface AlertStatus {
  readonly isLeading: boolean
  /** That this node tells of. */
  readonly findings: number
  /** By this node, since it started. */
  readonly opened: number
  readonly resolved: number
  readonly delivered: DeliveryCounts
}

export class AlertKeeper {
  readonly #parts: AlertKeeperParts
  readonly #findings: Findings
  readonly #watch: NodeWatch
  readonly #leadership: Leadership
  readonly #openings: Openings
  readonly #deliverer: Deliverer
  readonly #startedAtMs: number
  #commits: ReadonlyMap<string, string> = new Map()
  /** As it was stored last; null: nothing was. */
  #reported: { readonly text: string; readonly atMs: number } | null = null
  #current: readonly Finding[] = []
  #term: number | null = null
  #prunedAtMs = -Infinity
  /** What was found when there was nothing left to do; null: there is. */
  #restsAt: string | null = null
  #isStopped = false

  constructor(parts: AlertKeeperParts) {
    this.#parts = parts
    const { facts, clock, settings, log } = parts
    this.#watch = new NodeWatch(clock)
    this.#findings = new Findings({
      facts: {
        ...facts,
        missing: () => this.#watch.missing(),
        commits: () => this.#commits,
        nowMs: clock.nowMs,
      },
      settings,
      clock,
      log,
    })
    this.#leadership = new Leadership(parts)
    this.#openings = new Openings({ ...parts, groupWaitMs: settings.groupWaitMs })
    this.#deliverer = new Deliverer(parts)
    this.#startedAtMs = clock.monotonicMs()
  }

  /** One round; nothing waits for what is sent. A store that is away is tried in the next one. */
  async look(): Promise<void> {
    const { store, isThere, clock } = this.#parts
    if (this.#isStopped || !isThere()) return
    this.#current = this.#findings.look()
    if (this.#isResting()) return
    this.#restsAt = null
    const reports = await store.reports()
    // Once it is stopped, it has left: it must not be missed.
    if (!reports.ok || this.#isStopped) return
    await this.#report(reports.value)
    this.#note(reports.value)
    this.#term = await this.#leadership.look()
    if (this.#term === null || this.#isStopped) return
    // What this node has just told is not in the list yet.
    const isDone = await this.#openings.look(this.#term, this.#told(reports.value))
    await this.#deliverer.look(this.#term)
    if (isDone) await this.#rest()
    if (clock.monotonicMs() - this.#prunedAtMs < clusterLimits.pruneEveryMs) return
    this.#prunedAtMs = clock.monotonicMs()
    for (const node of this.#watch.lost()) await store.retire(node)
    await store.prune(clock.nowMs())
  }

  status(): AlertStatus {
    const findings = this.#current.length
    const delivered = this.#deliverer.counts()
    return { isLeading: this.#term !== null, findings, ...this.#openings.counts(), delivered }
  }

  /** Resolves when nothing is on its way. */
  idle(): Promise<void> {
    return this.#deliverer.idle()
  }

  /** The node leaves: nobody misses it, and the next one need not wait to lead. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const { store, isAlone, node, isThere } = this.#parts
    await this.#deliverer.stop()
    if (!isThere() || this.#reported === null) return
    // What was open stays open for a node that comes back with its own database.
    if (!isAlone) await store.retire(node)
    await this.#leadership.release()
  }

  /** As long as it is alone, and has nobody to tell: the database is not asked for nothing. */
  #isResting(): boolean {
    const isPruned = this.#parts.clock.monotonicMs() - this.#prunedAtMs < clusterLimits.pruneEveryMs
    return isPruned && this.#restsAt === this.#found()
  }

  async #rest(): Promise<void> {
    const { isAlone, store } = this.#parts
    if (!isAlone || this.#isSettling()) return
    const channels = await store.listChannels('every-tenant')
    if (channels.ok && channels.value.length === 0) this.#restsAt = this.#found()
  }

  #found(): string {
    return JSON.stringify([this.#parts.facts.commit(), this.#current])
  }

  #isSettling(): boolean {
    return this.#parts.clock.monotonicMs() - this.#startedAtMs < clusterLimits.settleMs
  }

  async #report(reports: readonly NodeReport[]): Promise<void> {
    const { store, node, facts, clock, isAlone } = this.#parts
    const before = reports.find((report) => report.node === node)
    // What a start finds healthy was maybe not looked at yet.
    if (this.#isSettling()) this.#current = union(this.#current, before?.findings ?? [])
    const commit = facts.commit()
    const text = this.#found()
    const nowMs = clock.monotonicMs()
    const isSame = this.#reported?.text === text && before !== undefined
    const isFresh =
      this.#reported !== null && nowMs - this.#reported.atMs < clusterLimits.beatEveryMs
    if (isSame && (isAlone || isFresh)) return
    const stored = await store.report(node, commit, isSame ? null : this.#current)
    if (stored.ok) this.#reported = { text, atMs: nowMs }
  }

  #note(reports: readonly NodeReport[]): void {
    const { node, facts, isAlone } = this.#parts
    const others = isAlone ? [] : reports.filter((report) => report.node !== node)
    this.#watch.note(others)
    const there = others.filter((report) => this.#watch.isThere(report.node))
    this.#commits = new Map([
      [node, facts.commit()],
      ...there.map((report) => [report.node, report.commit] as const),
    ])
  }

  /** The findings of all nodes. A missing node keeps those that only it can know. */
  #told(reports: readonly NodeReport[]): readonly NodeReport[] {
    const { node, isAlone } = this.#parts
    const own = { node, beat: 0, commit: '', findings: this.#current }
    const others = isAlone ? [] : reports.filter((report) => report.node !== node)
    return [
      own,
      ...others.map((report) =>
        this.#watch.isThere(report.node)
          ? report
          : { ...report, findings: report.findings.filter(({ isOfNode }) => isOfNode) },
      ),
    ]
  }
}

function union(now: readonly Finding[], before: readonly Finding[]): readonly Finding[] {
  const known = new Set(now.map(keyOf))
  const kept = before.filter(
    (finding) => !known.has(keyOf(finding)) && conditionOf(finding.condition) !== undefined,
  )
  return [...now, ...kept]
}
