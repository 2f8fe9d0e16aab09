// Asks a source for the members of one service, again and again, and keeps what it said last.
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Random } from '#lib/random.ts'
import type { Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import type { Ask, DiscoveryKind, KindAnswer, SourceSettings } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { checkTargets } from '#integrations/targets/targets.ts'
import type { CheckedTargets } from '#integrations/targets/targets.ts'

/** A source of this node's settings, ready to be asked. */
export interface Source {
  readonly settings: SourceSettings
  readonly kind: DiscoveryKind
  readonly ask: Ask
}

interface QueryParts {
  readonly allowLocal: boolean
  readonly clock: Clock
  readonly after: After
  readonly random: Random
  /** Called when there is an answer, or another fault than before. */
  readonly onNews: (query: Query) => void
  /** Called each time that the source says what there is, also the same as before. */
  readonly onFound: (query: Query) => void
  /** Called each time that the source does not say what there is. */
  readonly onFailure: (query: Query) => void
}

export class Query {
  readonly source: Source
  readonly service: string
  readonly #parts: QueryParts
  readonly #controller = new AbortController()
  #callOff: (() => void) | undefined
  #cursor = ''
  #failures = 0
  /** null: there was no answer yet. */
  checked: CheckedTargets | null = null
  /** When the source last said what there is, Unix epoch; 0: never. */
  foundAtMs = 0
  /** Why it did not say so last time; empty: it did, or was not asked yet. */
  error = ''
  /** What would make it better; empty: nothing. */
  note = ''
  hasTried = false

  constructor(source: Source, service: string, parts: QueryParts) {
    this.source = source
    this.service = service
    this.#parts = parts
  }

  start(): void {
    void this.#look()
  }

  stop(): void {
    this.#controller.abort()
    this.#callOff?.()
  }

  async #look(): Promise<void> {
    const { signal } = this.#controller
    const answer = await this.#ask()
    if (signal.aborted) return
    this.hasTried = true
    if (answer.ok) this.#take(answer.value)
    else this.#fail(answer.error)
    this.#callOff = this.#parts.after(this.#pauseMs(), () => void this.#look())
  }

  async #ask(): Promise<Result<KindAnswer, string>> {
    const { settings, kind, ask } = this.source
    const late = `no whole answer within ${settings.timeoutMs / 1000} s`
    // A request of a watch may wait; its kind sees to its time.
    const isWait = kind.waits?.(this.#cursor) === true
    const patience = settings.timeoutMs + (isWait ? discoveryLimits.watchSeconds * 2_000 : 0)
    const { promise, resolve } = Promise.withResolvers<Result<KindAnswer, string>>()
    const controller = new AbortController()
    const callOff = this.#parts.after(patience, () => {
      controller.abort()
      resolve({ ok: false, error: late })
    })
    const signal = AbortSignal.any([this.#controller.signal, controller.signal])
    const { service } = this
    try {
      return await Promise.race([ask({ service, cursor: this.#cursor, signal }), promise])
    } finally {
      callOff()
    }
  }

  #take({ targets, cursor, note = '' }: KindAnswer): void {
    const { weightLabel } = this.source.settings
    this.#cursor = cursor
    this.note = note
    if (targets !== null) {
      const checked = checkTargets(targets, weightLabel, this.#parts.allowLocal)
      if (checked.targets.length === 0 && checked.fault !== '') {
        this.#fail(`no target can be used: ${checked.fault}`)
        return
      }
      this.checked = checked
    }
    const wasFailing = this.error !== '' || this.foundAtMs === 0
    this.foundAtMs = this.#parts.clock.nowMs()
    this.error = ''
    this.#failures = 0
    if (targets !== null || wasFailing) this.#parts.onNews(this)
    this.#parts.onFound(this)
  }

  #fail(why: string): void {
    // All is asked anew: whatever the cursor stood for may be gone.
    this.#cursor = ''
    this.#failures++
    this.#parts.onFailure(this)
    if (this.error === why) return
    this.error = why
    this.#parts.onNews(this)
  }

  #pauseMs(): number {
    const { jitter, retries, watchPauseMs } = discoveryLimits
    const chance = this.#parts.random.next() / 2 ** 32
    const early = 1 - jitter * chance
    const { kind, settings } = this.source
    if (this.#failures > 0) {
      if (kind.isCheap === true) return Math.min(retries.firstMs, settings.intervalMs) * early
      return backoffMs(retries, this.#failures) * early
    }
    const isWait = kind.waits?.(this.#cursor) === true
    return isWait ? watchPauseMs * (1 + chance) : settings.intervalMs * early
  }
}
