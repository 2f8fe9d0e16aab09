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

/** Facts from the composition; the others are known here. */
export type NodeAlertFacts = Omit<AlertFacts, 'missing' | 'commits' | 'nowMs'> & {
  /** The active commit of this node; '': none yet. */
  readonly commit: () => string
}

interface AlertKeeperParts {
  readonly store: AlertStore
  /** False: the node's own database is not made yet. */
  readonly isThere: () => boolean
  /** True: the database is inside this process. */
  readonly isAlone: boolean
  /** Name of this node. */
  readonly node: string
  /** Unique for this process. */
  readonly holder: string
  readonly facts: NodeAlertFacts
  readonly settings: ConditionSettings & { readonly groupWaitMs: number }
  readonly send: SendByChannel
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

interface AlertStatus {
  readonly isLeading: boolean
  /** Findings that this node reports. */
  readonly findings: number
  /** Alerts opened by this node since its start. */
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
  /** Since when the store is away, and when it was back after long, by the monotonic clock. */
  #awayFromMs: number | undefined
  #backAtMs = -Infinity
  #commits: ReadonlyMap<string, string> = new Map()
  /** The report that was stored last; null: none was. */
  #reported: { readonly text: string; readonly atMs: number } | null = null
  #current: readonly Finding[] = []
  #term: number | null = null
  #prunedAtMs = -Infinity
  /** The findings when nothing was left to do; null: something is. */
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

  /**
   * Runs one round, without waiting for messages. A store that is away is tried in the next round.
   */
  async look(): Promise<void> {
    const { store, isThere, clock } = this.#parts
    if (this.#isStopped || !isThere()) return
    this.#current = this.#findings.look()
    if (this.#isResting()) return
    this.#restsAt = null
    const reports = await store.reports()
    this.#noteStore(reports.ok)
    // Once stopped, the node has left the cluster: reporting again would make it missed.
    if (!reports.ok || this.#isStopped) return
    await this.#report(reports.value)
    this.#note(reports.value)
    this.#term = await this.#leadership.look()
    if (this.#term === null || this.#isStopped) return
    // The report that was just stored is not in the list yet.
    const isDone = await this.#openings.look(this.#term, this.#allReports(reports.value))
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

  /** Resolves when no message is under way. */
  idle(): Promise<void> {
    return this.#deliverer.idle()
  }

  /** Withdraws the node: it is not missed, and another one leads without waiting. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const { store, isAlone, node, isThere } = this.#parts
    await this.#deliverer.stop()
    if (!isThere() || this.#reported === null) return
    // Alerts stay open for a node that comes back with its own database.
    if (!isAlone) await store.retire(node)
    await this.#leadership.release()
  }

  /** Alone and without a channel, it does not ask the database in vain. */
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

  #noteStore(isThere: boolean): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const fromMs = this.#awayFromMs ?? nowMs
    this.#awayFromMs = isThere ? undefined : fromMs
    if (isThere && nowMs - fromMs >= clusterLimits.missingAfterMs) this.#backAtMs = nowMs
  }

  async #report(reports: readonly NodeReport[]): Promise<void> {
    const { store, node, facts, clock, isAlone } = this.#parts
    const before = reports.find((report) => report.node === node)
    // Right after a start, healthy may mean not probed yet.
    if (this.#isSettling()) this.#current = union(this.#current, before?.findings ?? [])
    // What it found while it was cut off from the others may not be so any more.
    const isBack = clock.monotonicMs() - this.#backAtMs < clusterLimits.settleMs
    if (isBack && !isAlone) this.#current = before?.findings ?? []
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

  /** Findings of all nodes. A missing node keeps those that only it can report. */
  #allReports(reports: readonly NodeReport[]): readonly NodeReport[] {
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
