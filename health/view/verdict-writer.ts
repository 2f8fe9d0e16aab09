// Writes verdicts to the store: the newest of each member, one write at a time, retried.
import { assert } from '#lib/assert.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Log } from '#lib/log.ts'
import { Rounds } from '#lib/rounds.ts'
import type { HealthVerdicts, StoredVerdict, VerdictOwner } from '#state/ports/health-verdicts.ts'
import { healthLimits } from '#health/limits.ts'
import { targetKey } from '#health/probes/probe.ts'

type Pending = { readonly save: StoredVerdict } | { readonly forget: VerdictOwner }

export class VerdictWriter {
  readonly #store: HealthVerdicts
  readonly #log: Log
  /** At most one for each member, however long the store is away. */
  #pending = new Map<string, Pending>()
  readonly #rounds = new Rounds(() => this.#writeBatch())
  #retry: NodeJS.Timeout | undefined
  #failures = 0

  constructor(store: HealthVerdicts, log: Log) {
    this.#store = store
    this.#log = log
  }

  save(verdicts: readonly StoredVerdict[]): void {
    for (const verdict of verdicts) this.#put(verdict, { save: verdict })
    this.#rounds.ask()
  }

  forget(owners: readonly VerdictOwner[]): void {
    for (const owner of owners) this.#put(owner, { forget: owner })
    this.#rounds.ask()
  }

  /** Writes the rest once; verdicts that the store refuses are lost. */
  async close(): Promise<void> {
    for (const isLast of [false, true]) {
      clearTimeout(this.#retry)
      this.#retry = undefined
      if (isLast) this.#rounds.ask()
      await this.#rounds.settled()
    }
    clearTimeout(this.#retry)
  }

  #put({ memberUid, ipAddress }: VerdictOwner, pending: Pending): void {
    this.#pending.set(targetKey(memberUid, ipAddress), pending)
  }

  async #writeBatch(): Promise<void> {
    if (this.#retry !== undefined || this.#pending.size === 0) return
    const batch = this.#pending
    this.#pending = new Map()
    const saves = [...batch.values()].flatMap((entry) => ('save' in entry ? [entry.save] : []))
    const forgets = [...batch.values()].flatMap((entry) =>
      'forget' in entry ? [entry.forget] : [],
    )
    assert(saves.length + forgets.length === batch.size, 'each verdict of a batch is written')
    try {
      if (saves.length > 0) await this.#store.save(saves)
      if (forgets.length > 0) await this.#store.forget(forgets)
      this.#failures = 0
    } catch (error) {
      // Verdicts that came meanwhile are newer.
      this.#pending = new Map([...batch, ...this.#pending])
      const retryMs = backoffMs(healthLimits.saveRetries, ++this.#failures)
      this.#log.warn(
        { err: error, verdicts: batch.size, retryMs },
        'health verdicts could not be stored; probing goes on, the write is retried',
      )
      this.#retry = setTimeout(() => {
        this.#retry = undefined
        this.#rounds.ask()
      }, retryMs)
    }
  }
}
