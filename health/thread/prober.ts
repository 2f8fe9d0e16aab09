// Runs probes at their times, applies the results, and reports changes.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Random } from '#lib/random.ts'
import { healthLimits } from '#health/limits.ts'
import { MemberTrack } from '#health/verdict/member-track.ts'
import { LastProbe, lastProbesFor } from './messages.ts'
import type {
  Measure,
  MonitoredTarget,
  ProbeCounts,
  ProberStats,
  ResultsMessage,
  TargetSet,
  VerdictChange,
} from './messages.ts'
import { targetKey } from '#health/probes/probe.ts'
import type { Cancel, ProbeResult } from '#health/probes/probe.ts'
import type { ProbeTable } from '#health/probes/probes.ts'
import { Schedule, scheduled } from './schedule.ts'
import type { Scheduled } from './schedule.ts'
import { zeroProbeCounts } from './stats.ts'

interface ProberParts {
  readonly probes: ProbeTable
  readonly clock: Clock
  readonly random: Random
  /** Calls `fn` once after `delayMs`; returns the function that cancels it. */
  readonly after: (delayMs: number, fn: () => void) => () => void
  readonly publish: (message: ResultsMessage) => void
  readonly inFlightMax?: number
}

interface Entry extends Scheduled {
  /** Replaced by a target with an equal check. */
  target: MonitoredTarget
  readonly track: MemberTrack
  cancel: Cancel | undefined
  /**
   * True when the check of a known member is new: the next result is reported even if unchanged.
   */
  confirmNext: boolean
  /** Index in the target set. */
  place: number
  /** End of the last probe; 0: there was none. */
  lastCheckMs: number
  /** The last measured round trip; 0: none was. */
  lastRttMs: number
}

export class Prober {
  readonly #parts: ProberParts
  readonly #inFlightMax: number
  readonly #schedule: Schedule<Entry>
  #entries = new Map<string, Entry>()
  readonly #counts: ProbeCounts = zeroProbeCounts()
  #generation = 0
  #inFlight = 0
  #late = 0
  #changes: VerdictChange[] = []
  #confirmed: VerdictChange[] = []
  /** Members to report in the next message: once each, even after ten changes. */
  readonly #measured = new Set<Entry>()
  #rttThresholdMs = 0
  #lastProbes = new Float64Array(lastProbesFor(0))
  #publishedMs = -Infinity
  #callOffPump: (() => void) | undefined
  #callOffFlush: (() => void) | undefined
  #flushDueMs = Infinity
  #isStopped = false

  constructor(parts: ProberParts) {
    this.#parts = parts
    this.#inFlightMax = parts.inFlightMax ?? healthLimits.inFlightMax
    this.#schedule = new Schedule<Entry>(parts.random)
  }

  get stats(): ProberStats {
    return {
      targets: this.#entries.size,
      inFlight: this.#inFlight,
      late: this.#late,
      probes: structuredClone(this.#counts),
    }
  }

  /** Replaces the full set; targets with an equal key and an equal check are not disturbed. */
  setTargets(message: TargetSet): void {
    // Results under the earlier set must not be taken for results under this one.
    if (this.#changes.length + this.#confirmed.length + this.#measured.size > 0) this.#flush()
    const unhealthyKeys = new Set(message.unhealthyKeys)
    const warmingKeys = new Set(message.warmingKeys)
    assert(message.generation >= this.#generation, 'sets of targets come in their order')
    this.#generation = message.generation
    this.#rttThresholdMs = message.rttThresholdMs
    this.#lastProbes = new Float64Array(message.lastProbes)
    const cellCount = LastProbe.Cells * message.targets.length
    assert(this.#lastProbes.length === cellCount, 'each target has its cells')
    const nowMs = this.#parts.clock.monotonicMs()
    const previous = this.#entries
    this.#entries = new Map()
    for (const [place, target] of message.targets.entries()) {
      const key = targetKey(target.memberUid, target.ipAddress)
      if (this.#entries.has(key)) continue
      const known = previous.get(key)
      previous.delete(key)
      if (known?.target.checkKey === target.checkKey) {
        known.target = target
        known.place = place
        this.#noteCheck(known)
        if (target.warmupThreshold === 0) known.track.warmup.isWarming = false
        this.#entries.set(key, known)
        continue
      }
      if (known !== undefined) this.#drop(known)
      const wasWarming = known?.track.warmup.isWarming ?? warmingKeys.has(key)
      const track = new MemberTrack(target.check, {
        healthy: known?.track.verdict.healthy ?? !unhealthyKeys.has(key),
        isWarming: wasWarming && target.warmupThreshold > 0,
      })
      const entry: Entry = {
        ...scheduled(key, target.check.intervalMs),
        target,
        track,
        cancel: undefined,
        confirmNext: known !== undefined,
        place,
        lastCheckMs: known?.lastCheckMs ?? 0,
        // The time under another check does not apply.
        lastRttMs: 0,
      }
      this.#noteCheck(entry)
      this.#entries.set(key, entry)
      this.#schedule.add(entry, nowMs)
    }
    for (const removed of previous.values()) this.#drop(removed)
    this.#flushWithin(healthLimits.batchMs)
    this.#pump()
  }

  stop(): void {
    this.#isStopped = true
    for (const entry of this.#entries.values()) this.#drop(entry)
    this.#entries.clear()
    this.#callOffPump?.()
    this.#callOffFlush?.()
  }

  #drop(entry: Entry): void {
    this.#schedule.remove(entry)
    this.#measured.delete(entry)
    if (entry.cancel === undefined) return
    entry.cancel()
    entry.cancel = undefined
    this.#inFlight--
    assert(this.#inFlight >= 0, 'a probe that is called off was under way')
  }

  /** Starts the probes that are due, then sleeps until the next one is. */
  #pump(): void {
    if (this.#isStopped) return
    this.#callOffPump?.()
    this.#callOffPump = undefined
    const nowMs = this.#parts.clock.monotonicMs()
    for (let started = 0; started < healthLimits.startsPerTurnMax; started++) {
      // At the limit, the end of a probe calls this again.
      if (this.#inFlight >= this.#inFlightMax) return
      const entry = this.#schedule.takeDue(nowMs)
      if (entry === undefined) break
      this.#start(entry, nowMs)
    }
    const { nextDueMs } = this.#schedule
    if (nextDueMs === Infinity) return
    // A long sleep is split, so that a timer does not overflow its 31 bits.
    const delayMs = Math.min(Math.max(nextDueMs - nowMs, 0), 60_000)
    this.#callOffPump = this.#parts.after(delayMs, () => {
      this.#pump()
    })
  }

  #start(entry: Entry, nowMs: number): void {
    if (nowMs - entry.dueMs > healthLimits.lateAfterMs) this.#late++
    this.#inFlight++
    entry.cancel = this.#parts.probes[entry.target.check.type].run(entry.target, (result) => {
      entry.cancel = undefined
      const wasFull = this.#inFlight-- === this.#inFlightMax
      assert(this.#inFlight >= 0, 'a probe ends once, and not after it was called off')
      this.#take(entry, result)
      this.#schedule.add(entry, nowMs)
      // The pump sleeps until the item that was first when it went to sleep.
      if (wasFull || entry === this.#schedule.first) this.#pump()
    })
  }

  #take(entry: Entry, result: ProbeResult): void {
    const { target, track } = entry
    const { verdict } = track
    this.#counts[target.check.type][result.outcome]++
    this.#flushWithin(healthLimits.statsMs)
    const { check, warmupThreshold } = target
    const rule = { check, warmupThreshold, rttThresholdMs: this.#rttThresholdMs }
    const change = track.take(result, rule, this.#parts.clock.monotonicMs())
    if (change.any) this.#measured.add(entry)
    if (change.gate) this.#flushSoon()
    if (result.outcome === 'local-error') return
    entry.lastCheckMs = this.#parts.clock.nowMs()
    if (result.outcome === 'success' && result.rttMs > 0) entry.lastRttMs = result.rttMs
    this.#noteCheck(entry)
    const changed = change.verdict
    const isConfirmation = entry.confirmNext && !changed
    entry.confirmNext = false
    if (!changed && !isConfirmation) return
    const list = changed ? this.#changes : this.#confirmed
    list.push({
      memberUid: target.memberUid,
      ipAddress: target.ipAddress,
      healthy: verdict.healthy,
      rttMs: result.rttMs,
      reason: verdict.healthy ? '' : result.reason,
      atMs: this.#parts.clock.nowMs(),
    })
    this.#flushSoon()
  }

  #noteCheck({ place, lastCheckMs, lastRttMs }: Entry): void {
    const cell = place * LastProbe.Cells
    if (lastCheckMs > 0) this.#lastProbes[cell + LastProbe.AtMs] = lastCheckMs
    if (lastRttMs > 0) this.#lastProbes[cell + LastProbe.RttMs] = lastRttMs
  }

  /** The first change after a quiet time is sent at once; many changes are sent in batches. */
  #flushSoon(): void {
    const sinceMs = this.#parts.clock.monotonicMs() - this.#publishedMs
    this.#flushWithin(Math.max(0, healthLimits.batchMs - sinceMs))
  }

  #flushWithin(delayMs: number): void {
    const dueMs = this.#parts.clock.monotonicMs() + delayMs
    if (this.#isStopped || dueMs >= this.#flushDueMs) return
    this.#callOffFlush?.()
    this.#flushDueMs = dueMs
    this.#callOffFlush = this.#parts.after(delayMs, () => {
      this.#flush()
    })
  }

  #flush(): void {
    this.#callOffFlush?.()
    this.#callOffFlush = undefined
    this.#flushDueMs = Infinity
    this.#publishedMs = this.#parts.clock.monotonicMs()
    const [changes, confirmed] = [this.#changes, this.#confirmed]
    this.#changes = []
    this.#confirmed = []
    const measures = [...this.#measured].map(measureOf)
    this.#measured.clear()
    const { stats } = this
    this.#parts.publish({
      kind: 'results',
      generation: this.#generation,
      changes,
      confirmed,
      measures,
      stats,
    })
  }
}

function measureOf({ target, track }: Entry): Measure {
  return {
    memberUid: target.memberUid,
    ipAddress: target.ipAddress,
    score: track.score,
    rttMs: track.rttMs,
    isWarming: track.warmup.isWarming,
    warmupPasses: track.warmup.passes,
    knowledge: track.knowledge,
    reason: track.reason,
  }
}
