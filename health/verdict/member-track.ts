// Tracks the health of one member: verdict, score, round-trip time, warm-up gate.
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { healthLimits } from '#health/limits.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import { RttAverage } from './rtt-average.ts'
import { ScoreWindow } from './score-window.ts'
import { initialVerdict, takeResult } from './verdict.ts'
import type { Verdict } from './verdict.ts'
import { takeWarmupResult } from './warmup.ts'
import type { Warmup } from './warmup.ts'

/**
 * `unknown`: no probe has ended yet. `stale`: the last result is older than three intervals,
 * because this node could not probe; or it is from before a restart.
 */
export type Knowledge = 'unknown' | 'known' | 'stale'

/** Changes by a result. */
interface TrackChange {
  readonly verdict: boolean
  /** True when the member has passed its warm-up gate. */
  readonly gate: boolean
  /** True when any field changed, or score, round-trip time, counter or knowledge. */
  readonly any: boolean
}

interface TrackStart {
  readonly healthy: boolean
  readonly isWarming: boolean
}

export class MemberTrack {
  readonly verdict: Verdict
  readonly warmup: Warmup
  readonly #window: ScoreWindow | undefined
  readonly #rtt = new RttAverage()
  knowledge: Knowledge = 'unknown'
  /** 1 while scoring is off. */
  score: number
  /** Why the last failed probe failed; empty once one has passed and the member is healthy. */
  reason = ''
  #lastResultMs = 0

  constructor({ scoreWindow }: HealthCheckModel, { healthy, isWarming }: TrackStart) {
    this.verdict = initialVerdict(healthy)
    this.warmup = { isWarming, passes: 0 }
    this.#window = scoreWindow > 0 ? new ScoreWindow(scoreWindow) : undefined
    this.score = this.#window === undefined || healthy ? 1 : 0
  }

  get rttMs(): number {
    return this.#rtt.publishedMs
  }

  /** @param nowMs of the monotonic clock */
  take(result: ProbeResult, rule: TrackRule, nowMs: number): TrackChange {
    if (result.outcome === 'local-error') return this.#miss(rule.check, nowMs)
    const success = result.outcome === 'success'
    this.#lastResultMs = nowMs
    const isNews = this.knowledge !== 'known'
    this.knowledge = 'known'
    const score = this.#window?.add(success) ?? 1
    const isScoreChanged = score !== this.score
    this.score = score
    const verdict =
      this.#window === undefined
        ? takeResult(this.verdict, success, rule.check)
        : this.#follow(score > 0)
    const wasWarming = this.warmup.isWarming
    const isCounted = takeWarmupResult(this.warmup, success, rule.warmupThreshold)
    const isReasonChanged = this.#explain(result)
    const isRttChanged = success && this.#rtt.add(result.rttMs, rule.rttThresholdMs)
    const any = verdict || isNews || isScoreChanged || isCounted || isRttChanged || isReasonChanged
    return { verdict, gate: wasWarming && !this.warmup.isWarming, any }
  }

  /** @returns true when an unhealthy member has another reason than before */
  #explain({ outcome, reason }: ProbeResult): boolean {
    const before = this.reason
    const { healthy } = this.verdict
    if (outcome !== 'success') this.reason = reason
    else if (healthy) this.reason = ''
    return !healthy && this.reason !== before
  }

  /** With a score, `riseCount` and `fallCount` have no effect. */
  #follow(healthy: boolean): boolean {
    const isChanged = this.verdict.healthy !== healthy
    this.verdict.healthy = healthy
    return isChanged
  }

  /**
   * Handles a probe that this node could not make: its knowledge ages, and nothing else changes.
   */
  #miss({ intervalMs }: HealthCheckModel, nowMs: number): TrackChange {
    const isStale = nowMs - this.#lastResultMs > ownStaleAfterMs(intervalMs)
    const isNews = this.knowledge === 'known' && isStale
    if (isNews) this.knowledge = 'stale'
    return { verdict: false, gate: false, any: isNews }
  }
}

interface TrackRule {
  readonly check: HealthCheckModel
  readonly warmupThreshold: number
  readonly rttThresholdMs: number
}

/** Age at which this node no longer trusts its own last probe. */
export function ownStaleAfterMs(intervalMs: number): number {
  return Math.max(3 * intervalMs, healthLimits.staleMsMin)
}
