// Holds the external signals in force, by member.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { healthSignalLimits } from '#state/ports/health-signals.ts'
import type { HealthSignal, HealthSignals } from '#state/ports/health-signals.ts'
import { DueHeap } from '#health/thread/due-heap.ts'
import type { DueItem } from '#health/thread/due-heap.ts'

interface LiveSignalsParts {
  readonly signals: HealthSignals
  readonly clock: Clock
  /** Calls `fn` once after `delayMs`; returns the function that cancels it. */
  readonly after: (delayMs: number, fn: () => void) => () => void
  readonly log: Log
  /** Called with members whose verdict changed. */
  readonly onChange: (memberUids: readonly string[]) => void
}

/** In the heap until it expires, then until no older signal of its source could arrive. */
interface Kept extends DueItem {
  readonly signal: HealthSignal
}

/** How long an expired signal may go unnoticed after the wall clock jumped. */
const wakeMsMax = 30_000

export class LiveSignals {
  readonly #parts: LiveSignalsParts
  /** By member, then by source. */
  readonly #members = new Map<string, Map<string, Kept>>()
  /** Verdicts as last reported; members without a live signal are absent. */
  readonly #verdicts = new Map<string, boolean>()
  readonly #due = new DueHeap<Kept>()
  #count = 0
  #unsubscribe: (() => void) | undefined
  #callOffWake: (() => void) | undefined

  constructor(parts: LiveSignalsParts) {
    this.#parts = parts
  }

  start(): void {
    const { signals, log } = this.#parts
    this.#unsubscribe = signals.subscribe((signal) => {
      this.#take([signal])
    })
    signals.load().then(
      (all) => {
        if (this.#unsubscribe !== undefined) this.#take(all)
      },
      (error: unknown) => {
        log.warn({ err: error }, 'health signals could not be read; new ones are taken')
      },
    )
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#callOffWake?.()
  }

  /** @returns undefined: there is no signal now */
  verdictOf(memberUid: string): boolean | undefined {
    return this.#verdicts.get(memberUid)
  }

  members(): Iterable<string> {
    return this.#verdicts.keys()
  }

  #take(signals: readonly HealthSignal[]): void {
    const touched = new Set<string>()
    for (const signal of signals) if (this.#keep(signal)) touched.add(signal.memberUid)
    this.#settle(touched)
  }

  /** @returns false when there is a newer signal of the source, or no room */
  #keep(signal: HealthSignal): boolean {
    const { memberUid, source } = signal
    const sources = this.#members.get(memberUid) ?? new Map<string, Kept>()
    const known = sources.get(source)
    if (known !== undefined) {
      if (known.signal.postedAtMs > signal.postedAtMs) return false
      this.#due.remove(known)
    } else {
      const { signalsMax, sourcesPerMemberMax } = healthSignalLimits
      if (this.#count >= signalsMax || sources.size >= sourcesPerMemberMax) return false
      this.#count++
    }
    const kept: Kept = { signal, dueMs: signal.expiresAtMs, heapIndex: -1 }
    sources.set(source, kept)
    this.#members.set(memberUid, sources)
    this.#due.add(kept)
    return true
  }

  /** Drops what is over, and reports members whose verdict changed. */
  #settle(touched: Set<string>): void {
    const nowMs = this.#parts.clock.nowMs()
    for (let first = this.#due.first; first !== undefined; first = this.#due.first) {
      if (first.dueMs > nowMs) break
      this.#due.remove(first)
      touched.add(first.signal.memberUid)
      this.#outlive(first)
    }
    const changed = [...touched].filter((memberUid) => this.#judge(memberUid, nowMs))
    this.#sleep(nowMs)
    if (changed.length > 0) this.#parts.onChange(changed)
  }

  #outlive(kept: Kept): void {
    const { memberUid, source, postedAtMs } = kept.signal
    const forgetMs = postedAtMs + healthSignalLimits.keptMs
    if (kept.dueMs < forgetMs) {
      kept.dueMs = forgetMs
      this.#due.add(kept)
      return
    }
    const sources = this.#members.get(memberUid)
    if (sources?.delete(source) === true) this.#count--
    assert(this.#count >= 0, 'signals are counted when they are kept')
    if (sources?.size === 0) this.#members.delete(memberUid)
  }

  /**
   * Adds a signal. A single unhealthy signal makes the verdict unhealthy.
   * @returns true when the verdict changed
   */
  #judge(memberUid: string, nowMs: number): boolean {
    let verdict: boolean | undefined
    for (const { signal } of this.#members.get(memberUid)?.values() ?? []) {
      if (signal.expiresAtMs > nowMs) verdict = (verdict ?? true) && signal.healthy
    }
    if (verdict === this.#verdicts.get(memberUid)) return false
    if (verdict === undefined) this.#verdicts.delete(memberUid)
    else this.#verdicts.set(memberUid, verdict)
    return true
  }

  #sleep(nowMs: number): void {
    this.#callOffWake?.()
    this.#callOffWake = undefined
    const first = this.#due.first
    if (first === undefined || this.#unsubscribe === undefined) return
    const delayMs = Math.min(Math.max(first.dueMs - nowMs, 1), wakeMsMax)
    this.#callOffWake = this.#parts.after(delayMs, () => {
      this.#settle(new Set())
    })
  }
}
