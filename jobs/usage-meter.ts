// Meters each tenant's usage in memory, and adds it to the store by the hour.
import type { Clock } from '#lib/clock.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { usageLimits } from '#state/ports/usage.ts'
import type { Usage, UsageBatch, UsageRecord } from '#state/ports/usage.ts'

interface UsageMeterParts {
  readonly usage: Pick<Usage, 'add'>
  /** Queries for names of each tenant since the last call. */
  readonly takeQueries: () => ReadonlyMap<string, number>
  readonly clock: Clock
  readonly log: Log
}

/** Entries that wait for a database that is away; further ones are lost. */
export const waitingHoursMax = usageLimits.recordsPerBatchMax

export class UsageMeter {
  readonly #parts: UsageMeterParts
  readonly #calls = new Map<string, number>()
  #waiting = new Map<string, UsageRecord>()
  /** A batch that may have been counted: it is sent again unchanged, under the same id. */
  #batch: UsageBatch | null = null
  #lost = 0
  readonly #mutex = new Mutex()

  constructor(parts: UsageMeterParts) {
    this.#parts = parts
  }

  /** Counts an authenticated API request. */
  countCall(tenant: string): void {
    this.#calls.set(tenant, (this.#calls.get(tenant) ?? 0) + 1)
  }

  /** Adds the counts to the current hour. Flushes follow each other. */
  flush(): Promise<void> {
    return this.#mutex.take(() => this.#flushOnce())
  }

  async #flushOnce(): Promise<void> {
    const { usage, log } = this.#parts
    this.#gather()
    while (this.#batch !== null || this.#waiting.size > 0) {
      this.#batch ??= this.#nextBatch()
      const added = await usage.add(this.#batch)
      if (!added.ok) {
        const waiting = this.#batch.records.length + this.#waiting.size
        log.warn({ waiting, lost: this.#lost }, `usage is not stored yet: ${added.error.message}`)
        return
      }
      this.#batch = null
    }
    if (this.#lost > 0)
      log.error({ lost: this.#lost }, 'usage was lost: the store was away for too long')
    this.#lost = 0
  }

  #gather(): void {
    const period = new Date(this.#parts.clock.nowMs())
      .toISOString()
      .slice(0, 'YYYY-MM-DDTHH'.length)
    const queries = this.#parts.takeQueries()
    for (const tenantId of new Set([...queries.keys(), ...this.#calls.keys()])) {
      const dnsQueries = queries.get(tenantId) ?? 0
      this.#wait({ tenantId, period, dnsQueries, apiCalls: this.#calls.get(tenantId) ?? 0 })
    }
    this.#calls.clear()
  }

  #wait(record: UsageRecord): void {
    const key = `${record.period} ${record.tenantId}`
    const before = this.#waiting.get(key)
    if (before === undefined && this.#waiting.size >= waitingHoursMax) {
      this.#lost += record.dnsQueries + record.apiCalls
      return
    }
    this.#waiting.set(key, {
      ...record,
      dnsQueries: record.dnsQueries + (before?.dnsQueries ?? 0),
      apiCalls: record.apiCalls + (before?.apiCalls ?? 0),
    })
  }

  #nextBatch(): UsageBatch {
    const nowMs = this.#parts.clock.nowMs()
    const records = [...this.#waiting.values()]
    this.#waiting = new Map()
    return { id: uuidV7(nowMs), nowMs, records }
  }
}
