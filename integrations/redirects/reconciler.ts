// Keeps another server in step with our redirects: after each change, periodically, and again after
// a failure. Nothing waits for it.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Rounds } from '#lib/rounds.ts'
import type { PushedRedirect } from './rule.ts'
import type { RedirectTarget } from './target.ts'

interface ReconcilerParts {
  readonly target: RedirectTarget
  /** The same array as long as none of them changes; undefined: not known yet. */
  readonly wanted: () => readonly PushedRedirect[] | undefined
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Log
}

export const reconcilerLimits = {
  /** Time for a round: reading, and all writes. */
  roundMs: 120_000,
  /** Pause after a failure. */
  retryMs: 10_000,
  /** How long a round that mended something is remembered. */
  mendedWithinMs: 3_600_000,
  /** Skipped redirects that are listed in the log. */
  loggedMax: 20,
} as const

export interface TargetStatus {
  readonly target: string
  /** null: not looked at yet. */
  readonly isUp: boolean | null
  readonly rules: number
  readonly drift: number
  /** Rounds within `mendedWithinMs` that mended something. */
  readonly mendedLately: number
  /** Why the last round failed; '': it did not. */
  readonly fault: string
}

export class Reconciler {
  readonly #parts: ReconcilerParts
  readonly #end = new AbortController()
  readonly #rounds = new Rounds(() => this.#round())
  #dueAtMs = 0
  /** The redirects after the last successful round. */
  #applied: readonly PushedRedirect[] | undefined
  #fault: string | null = null
  #skipped = ''
  #isUp: boolean | null = null
  #rules = 0
  #drift = 0
  /** Times of mending, by the monotonic clock. */
  #mendedAtMs: readonly number[] = []

  constructor(parts: ReconcilerParts) {
    this.#parts = parts
  }

  /** To be called when redirects may have changed. */
  changed(): void {
    if (this.#end.signal.aborted || this.#parts.wanted() === this.#applied) return
    this.#rounds.ask()
  }

  /** To be called often; runs a round when one is due. */
  tick(): void {
    if (this.#rounds.isUnderWay) return
    if (this.#parts.clock.monotonicMs() >= this.#dueAtMs) this.#rounds.ask()
  }

  status(): TargetStatus {
    const { name: target } = this.#parts.target
    const { length: mendedLately } = this.#lately()
    return {
      ...{ target, isUp: this.#isUp, rules: this.#rules, drift: this.#drift },
      ...{ mendedLately, fault: this.#fault ?? '' },
    }
  }

  /** Resolves when no round is under way. */
  async settled(): Promise<void> {
    await this.#rounds.settled()
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#rounds.stop()
  }

  #lately(): readonly number[] {
    const sinceMs = this.#parts.clock.monotonicMs() - reconcilerLimits.mendedWithinMs
    return this.#mendedAtMs.filter((atMs) => atMs > sinceMs)
  }

  async #round(): Promise<void> {
    await this.#bring().catch((error: unknown) => this.#failed(String(error)))
  }

  async #bring(): Promise<void> {
    const { target, wanted: ask, clock, intervalMs } = this.#parts
    const wanted = ask()
    if (wanted === undefined) return
    const signal = AbortSignal.any([
      this.#end.signal,
      AbortSignal.timeout(reconcilerLimits.roundMs),
    ])
    const plan = await target.look(wanted, signal)
    if (!plan.ok) return this.#failed(plan.error)
    const { changes, skipped, isPending = false } = plan.value
    const isDrift = this.#applied === wanted && changes.length > 0
    if (changes.length > 0 || isPending) {
      const applied = await plan.value.apply(signal)
      if (!applied.ok) return this.#failed(applied.error)
    }
    this.#tell(changes.length, isDrift, skipped)
    this.#applied = wanted
    this.#isUp = true
    this.#rules = wanted.length - skipped.length
    this.#dueAtMs = clock.monotonicMs() + intervalMs
  }

  #failed(reason: string): void {
    if (this.#end.signal.aborted) return
    const { target, clock, intervalMs, log } = this.#parts
    this.#isUp = false
    this.#dueAtMs = clock.monotonicMs() + Math.min(intervalMs, reconcilerLimits.retryMs)
    // Logged once for each reason, since it is tried again and again.
    if (this.#fault !== reason) {
      log.warn({ target: target.name, reason }, 'redirects are not written there yet')
    }
    this.#fault = reason
  }

  #tell(
    changes: number,
    isDrift: boolean,
    skipped: readonly { readonly mark: string; readonly reason: string }[],
  ): void {
    const { target, log } = this.#parts
    const fields = { target: target.name, changes }
    if (isDrift) {
      this.#drift += changes
      // Rounds are at least a second apart.
      this.#mendedAtMs = [...this.#lately(), this.#parts.clock.monotonicMs()]
      log.warn(fields, 'redirects were changed there by somebody else, and are mended')
    } else if (changes > 0) log.info(fields, 'redirects are written there')
    if (this.#fault !== null) log.info({ target: target.name }, 'redirects are written there again')
    this.#fault = null
    const first = skipped.slice(0, reconcilerLimits.loggedMax)
    const text = JSON.stringify(first)
    if (skipped.length > 0 && text !== this.#skipped) {
      const fields = { target: target.name, count: skipped.length, first }
      log.warn(fields, 'some redirects cannot be written there')
    }
    this.#skipped = text
  }
}
