// Keeps the health of all members on the main thread: the worker reports it, each swap reads it.
import type { Worker } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { noLongerThan } from '#lib/timer.ts'
import type { HealthVerdicts, StoredVerdict, VerdictOwner } from '#state/ports/health-verdicts.ts'
import { adopt, blank, follow, forgetCounts, handOver } from './known-member.ts'
import type { Known } from './known-member.ts'
import { healthLimits } from '#health/limits.ts'
import type { FollowedHealth, HealthMonitor, MemberHealth, OwnMonitor } from './member-health.ts'
import type { TargetOptions } from './member-health.ts'
import { ownStaleAfterMs } from '#health/verdict/member-track.ts'
import type {
  MonitoredTarget,
  ProberStats,
  ResultsMessage,
  VerdictChange,
} from '#health/thread/messages.ts'
import { LastProbe, lastProbesFor } from '#health/thread/messages.ts'
import { targetKey } from '#health/probes/probe.ts'
import { addStats, zeroStats } from '#health/thread/stats.ts'
import type { HealthStats } from '#health/thread/stats.ts'
import { VerdictWriter } from './verdict-writer.ts'
import { WorkerKeeper, spawnHealthWorker } from '#health/thread/worker-keeper.ts'

export type { HealthMonitor, HealthStats, MonitoredTarget, OwnMonitor, VerdictChange }

export interface HealthMonitorParts {
  readonly verdicts: HealthVerdicts
  readonly log: Log
  readonly clock: Clock
  /** Probes begin when it resolves, and never when it rejects. Left out: they begin at once. */
  readonly mayBegin?: Promise<unknown>
  /** Whether the worker may run scripts; by default it may not. */
  readonly runsScripts?: boolean
  /** Starts a worker with the settings of the node; left out: one that permits nothing. */
  readonly spawn?: () => Worker
}

export function createHealthMonitor(parts: HealthMonitorParts): OwnMonitor {
  return new Monitor(parts)
}

class Monitor implements OwnMonitor {
  readonly runsScripts: boolean
  readonly #parts: HealthMonitorParts
  readonly #writer: VerdictWriter
  readonly #keeper: WorkerKeeper
  readonly #handlers: ((changes: readonly VerdictChange[]) => void)[] = []
  readonly #updateHandlers: ((owners: readonly VerdictOwner[]) => void)[] = []
  #targets: readonly MonitoredTarget[] = []
  #isProbed: (key: string) => boolean = () => true
  /** The targets that the worker probes. */
  #probed: readonly MonitoredTarget[] = []
  #rttThresholdMs = 0
  /** Cells as in `TargetSet`. */
  #lastProbes = new Float64Array(lastProbesFor(0))
  /** Time of the worker's last message; -Infinity: there was none. */
  #heardMs = -Infinity
  #generation = 0
  #known = new Map<string, Known>()
  #warnedChecks = new Set<string>()
  #endedStats: ProberStats = zeroStats
  #livingStats: ProberStats = zeroStats
  #workerRestarts = 0
  #isStopped = false
  #adopted: Promise<void> = Promise.resolve()

  constructor(parts: HealthMonitorParts) {
    this.runsScripts = parts.runsScripts ?? false
    this.#parts = parts
    this.#writer = new VerdictWriter(parts.verdicts, parts.log)
    this.#keeper = new WorkerKeeper({
      clock: parts.clock,
      log: parts.log,
      spawn: parts.spawn ?? spawnHealthWorker,
      onStart: () => {
        this.#postTargets()
      },
      onResults: (message) => {
        this.#take(message)
      },
      onCrash: () => {
        this.#workerRestarts++
        this.#endedStats = addStats(this.#endedStats, this.#livingStats)
        this.#livingStats = zeroStats
      },
    })
  }

  start(): void {
    const { mayBegin } = this.#parts
    this.#adopted = this.#load()
    const begin = (): void => {
      if (!this.#isStopped) this.#keeper.start()
    }
    if (mayBegin === undefined) void this.#adopted.then(begin)
    // Loaded again, since the process before has judged members in the meantime.
    else void mayBegin.then(() => this.#load().then(begin)).catch(() => undefined)
  }

  #load(): Promise<void> {
    return this.#parts.verdicts.load().then(
      (stored) => {
        this.#adopt(stored)
      },
      (error: unknown) => {
        this.#parts.log.warn(
          { err: error },
          'stored health verdicts could not be read; every member counts as healthy until probed',
        )
        this.#adopt([])
      },
    )
  }

  adopted(): Promise<void> {
    return noLongerThan(healthLimits.adoptPatienceMs, this.#adopted)
  }

  setTargets(targets: readonly MonitoredTarget[], options: TargetOptions = {}): void {
    const { arrivals, rttThresholdMs = 0 } = options
    const isSame = rttThresholdMs === this.#rttThresholdMs && areEqual(targets, this.#targets)
    // Most commits change no health check, so the worker need not be told.
    if (this.#generation > 0 && isSame) return
    const previous = this.#known
    this.#known = new Map()
    this.#generation++
    this.#targets = targets
    this.#rttThresholdMs = rttThresholdMs
    const gateChanges: Known[] = []
    const restarted = new Set<Known>()
    for (const target of targets) {
      const key = targetKey(target.memberUid, target.ipAddress)
      const known = previous.get(key)
      previous.delete(key)
      if (this.#known.has(key)) continue
      const now = known ?? blank(target, this.#generation)
      const wasWarming = now.isWarming
      if (now.checkKey !== target.checkKey) {
        forgetCounts(now)
        restarted.add(now)
      }
      now.checkKey = target.checkKey
      now.pool = target.pool
      now.intervalMs = target.check.intervalMs
      now.warmupThreshold = target.warmupThreshold
      const isArrival = known === undefined && (arrivals?.has(key) ?? false)
      now.isWarming = (wasWarming || isArrival) && target.warmupThreshold > 0
      if (now.isWarming !== wasWarming) gateChanges.push(now)
      this.#known.set(key, now)
    }
    this.#assign(restarted)
    if (previous.size > 0) this.#writer.forget([...previous.values()])
    if (gateChanges.length > 0) this.#store(gateChanges)
    this.#warnOfUnverified(targets)
    this.#postTargets()
  }

  probeOnly(isProbed: (key: string) => boolean): void {
    this.#isProbed = isProbed
    if (this.#generation === 0) return
    this.#generation++
    const handedOver = this.#assign(new Set())
    this.#postTargets()
    // The verdict of members that change hands came from others, or will: no longer, or not yet,
    // from this node's probes.
    if (handedOver.length > 0) this.#update(handedOver)
  }

  follow(members: readonly FollowedHealth[]): void {
    const changes: VerdictChange[] = []
    const toStore: Known[] = []
    for (const member of members) {
      const { memberUid, ipAddress, healthy, reason } = member
      const known = this.#known.get(targetKey(memberUid, ipAddress))
      if (known === undefined || known.isProbed) continue
      const { isOther, isOtherGate } = follow(known, member)
      if (isOther || isOtherGate) toStore.push(known)
      const atMs = member.sinceMs || this.#parts.clock.nowMs()
      if (isOther) changes.push({ memberUid, ipAddress, healthy, rttMs: 0, reason, atMs })
    }
    if (toStore.length > 0) this.#store(toStore)
    if (changes.length > 0) this.#announce(changes)
  }

  /**
   * Decides which members are probed, and assigns their indices.
   *
   * @param restarted members with another check than before
   * @returns members whose probes begin or end
   */
  #assign(restarted: ReadonlySet<Known>): readonly Known[] {
    const probed: MonitoredTarget[] = []
    const cells: number[] = []
    const handedOver: Known[] = []
    const seen = new Set<Known>()
    for (const target of this.#targets) {
      const key = targetKey(target.memberUid, target.ipAddress)
      const known = this.#known.get(key)
      if (known === undefined || seen.has(known)) continue
      seen.add(known)
      const isProbed = this.#isProbed(key)
      if (isProbed !== known.isProbed) {
        handOver(known, isProbed, this.#generation)
        handedOver.push(known)
      }
      const { atMs, rttMs } = this.#lastProbeOf(known)
      known.place = isProbed ? probed.length : -1
      if (!isProbed) continue
      cells.push(atMs, restarted.has(known) ? 0 : rttMs)
      probed.push(target)
    }
    assert(
      cells.length === LastProbe.Cells * probed.length,
      'each member that is probed has its cells',
    )
    this.#lastProbes = new Float64Array(lastProbesFor(probed.length))
    this.#lastProbes.set(cells)
    this.#probed = probed
    return handedOver
  }

  onChange(handler: (changes: readonly VerdictChange[]) => void): void {
    this.#handlers.push(handler)
  }

  onUpdate(handler: (owners: readonly VerdictOwner[]) => void): void {
    this.#updateHandlers.push(handler)
  }

  healthOf(memberUid: string, ipAddress: string): MemberHealth | undefined {
    const known = this.#known.get(targetKey(memberUid, ipAddress))
    if (known === undefined) return undefined
    const { isProbed, healthy, score, rttMs, isWarming, warmupPasses } = known
    const { intervalMs, reason, sinceMs } = known
    // A worker that is gone for long cannot report that its knowledge ages.
    const silentMs = this.#parts.clock.monotonicMs() - this.#heardMs
    const isDeaf = known.knowledge === 'known' && silentMs > ownStaleAfterMs(intervalMs)
    const knowledge = isDeaf ? 'stale' : known.knowledge
    const { atMs: lastCheckMs, rttMs: lastRttMs } = this.#lastProbeOf(known)
    const measured = { score, rttMs, isWarming, warmupPasses, knowledge, intervalMs }
    return { isProbed, healthy, reason, sinceMs, lastCheckMs, lastRttMs, ...measured }
  }

  #lastProbeOf({ place }: Known): { readonly atMs: number; readonly rttMs: number } {
    const cell = place * LastProbe.Cells
    const [atMs = 0, rttMs = 0] = place < 0 ? [] : this.#lastProbes.subarray(cell, cell + 2)
    return { atMs, rttMs }
  }

  verdictOf(memberUid: string, ipAddress: string): boolean | undefined {
    return this.#known.get(targetKey(memberUid, ipAddress))?.healthy
  }

  ownHealthOf(memberUid: string, ipAddress: string): MemberHealth | undefined {
    return this.healthOf(memberUid, ipAddress)
  }

  // Other nodes and signals are added in view.ts.
  peersOf(): null {
    return null
  }

  peers(): null {
    return null
  }

  agents(): null {
    return null
  }

  permitAgents(): void {}

  onSignal(): void {}

  signalOf(): undefined {}

  signalled(): readonly string[] {
    return []
  }

  stats(): HealthStats {
    const sums = addStats(this.#endedStats, this.#livingStats)
    return { ...sums, workerRestarts: this.#workerRestarts }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#keeper.stop()
    await this.#writer.close()
  }

  /** Adopts stored verdicts for members that no probe of this process has judged. */
  #adopt(stored: readonly StoredVerdict[]): void {
    if (this.#isStopped) return
    const changes: VerdictChange[] = []
    const gone: VerdictOwner[] = []
    const closedGates: Known[] = []
    for (const verdict of stored) {
      const { memberUid, ipAddress, healthy, warming, atMs } = verdict
      const reason = healthy ? '' : (verdict.reason ?? beforeRestart)
      const key = targetKey(memberUid, ipAddress)
      const known = this.#known.get(key)
      if (this.#generation === 0) {
        // There are no targets yet: the first set decides which of these still exist.
        this.#known.set(key, {
          ...blank(verdict, 1),
          healthy,
          isWarming: warming,
          knowledge: 'stale',
          reason,
          sinceMs: atMs,
        })
        continue
      }
      if (known === undefined) {
        gone.push({ memberUid, ipAddress })
        continue
      }
      known.knowledge = 'stale'
      if (warming && known.warmupThreshold > 0 && !known.isWarming) {
        known.isWarming = true
        closedGates.push(known)
      }
      known.sinceMs = atMs
      if (known.healthy === healthy) continue
      known.healthy = healthy
      known.reason = reason
      changes.push({ memberUid, ipAddress, healthy, rttMs: 0, reason, atMs })
    }
    if (gone.length > 0) this.#writer.forget(gone)
    if (changes.length > 0) this.#announce(changes)
    if (changes.length + closedGates.length > 0) this.#update([...changes, ...closedGates])
  }

  #postTargets(): void {
    const unhealthyKeys: string[] = []
    const warmingKeys: string[] = []
    for (const [key, known] of this.#known) {
      if (!known.isProbed) continue
      if (!known.healthy) unhealthyKeys.push(key)
      if (known.isWarming) warmingKeys.push(key)
    }
    this.#keeper.post({
      kind: 'targets',
      generation: this.#generation,
      targets: this.#probed,
      unhealthyKeys,
      warmingKeys,
      rttThresholdMs: this.#rttThresholdMs,
      lastProbes: this.#lastProbes.buffer,
    })
  }

  #take({ generation, changes, confirmed, measures, stats }: ResultsMessage): void {
    assert(generation <= this.#generation, 'the worker probes targets that it was given')
    this.#livingStats = stats
    this.#heardMs = this.#parts.clock.monotonicMs()
    const updated: VerdictOwner[] = []
    const toStore: Known[] = []
    for (const measure of measures) {
      const known = this.#knownSince(generation, measure)
      if (known === undefined) continue
      if (adopt(known, measure, this.#parts.clock.nowMs())) toStore.push(known)
      updated.push(known)
    }
    const current: VerdictChange[] = []
    for (const change of changes) {
      const known = this.#knownSince(generation, change)
      if (known === undefined || known.healthy === change.healthy) continue
      const { healthy, reason, atMs: sinceMs } = change
      Object.assign(known, { healthy, reason, sinceMs } satisfies Partial<Known>)
      toStore.push(known)
      current.push(change)
    }
    for (const verdict of confirmed) {
      const known = this.#knownSince(generation, verdict)
      if (known !== undefined) toStore.push(known)
    }
    if (toStore.length > 0) this.#store(toStore)
    if (current.length > 0) this.#announce(current)
    if (updated.length + current.length > 0) this.#update([...updated, ...current])
  }

  /** @returns undefined: it is not probed, or was not when this was found */
  #knownSince(generation: number, { memberUid, ipAddress }: VerdictOwner): Known | undefined {
    const known = this.#known.get(targetKey(memberUid, ipAddress))
    if (known?.isProbed !== true || known.sinceGeneration > generation) return undefined
    return known
  }

  #store(members: readonly Known[]): void {
    const nowMs = this.#parts.clock.nowMs()
    const toStored = ({
      memberUid,
      ipAddress,
      healthy,
      isWarming,
      reason,
      sinceMs,
    }: Known): StoredVerdict => ({
      memberUid,
      ipAddress,
      healthy,
      warming: isWarming,
      ...(reason === '' ? {} : { reason }),
      atMs: sinceMs || nowMs,
    })
    this.#writer.save(members.map(toStored))
  }

  #update(owners: readonly VerdictOwner[]): void {
    for (const handler of this.#updateHandlers) handler(owners)
  }

  #announce(changes: readonly VerdictChange[]): void {
    for (const change of changes.slice(0, healthLimits.logLinesPerBatchMax)) {
      const { memberUid, ipAddress, rttMs, reason } = change
      const since = new Date(change.atMs).toISOString()
      const pool = this.#known.get(targetKey(memberUid, ipAddress))?.pool
      if (change.healthy)
        this.#parts.log.info({ pool, ipAddress, rttMs, since }, 'member is healthy')
      else this.#parts.log.warn({ pool, ipAddress, reason, since }, 'member is unhealthy')
    }
    const unnamed = changes.length - healthLimits.logLinesPerBatchMax
    if (unnamed > 0) this.#parts.log.warn({ members: unnamed }, 'more members changed their health')
    for (const handler of this.#handlers) handler(changes)
  }

  #warnOfUnverified(targets: readonly MonitoredTarget[]): void {
    const present = new Set<string>()
    for (const { check, checkKey } of targets) {
      if (!check.tls || !check.insecureSkipVerify || present.has(checkKey)) continue
      present.add(checkKey)
      if (this.#warnedChecks.has(checkKey)) continue
      const { port, httpHost, httpPath } = check
      this.#parts.log.warn(
        { port, httpHost, httpPath },
        'a health check skips certificate verification (insecureSkipVerify): anyone may answer it',
      )
    }
    this.#warnedChecks = present
  }
}

const beforeRestart = 'unhealthy before the restart'

function areEqual(a: readonly MonitoredTarget[], b: readonly MonitoredTarget[]): boolean {
  return (
    a.length === b.length &&
    a.every((target, i) => {
      const other = b[i]!
      return (
        target.memberUid === other.memberUid &&
        target.ipAddress === other.ipAddress &&
        target.checkKey === other.checkKey &&
        target.warmupThreshold === other.warmupThreshold
      )
    })
  )
}
