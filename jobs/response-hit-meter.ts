// Adds this node's hits of response rules and redirects to the store, and caches the sums over all
// nodes.
import type { Clock } from '#lib/clock.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { responseHitLimits } from '#state/ports/response-hits.ts'
import type { ResponseHitBatch, ResponseHits } from '#state/ports/response-hits.ts'

interface ResponseHitMeterParts {
  readonly store: ResponseHits
  /** False: the node's own database is not made yet. */
  readonly isThere: () => boolean
  /**
   * Counts since this process started, by uid; rules that are gone or were never hit are absent.
   */
  readonly counted: () => ReadonlyMap<string, number>
  readonly clock: Clock
  readonly log: Log
}

export class ResponseHitMeter {
  readonly #parts: ResponseHitMeterParts
  /** Counts that were taken over to `#waiting`. */
  #taken: ReadonlyMap<string, number> = new Map()
  /** Hits by rule, at most as many rules as bundles had. */
  readonly #waiting = new Map<string, number>()
  /** A batch that may have been counted: it is sent again unchanged, under the same id. */
  #batch: ResponseHitBatch | null = null
  readonly #gone = new Set<string>()
  /** Sums of the store, as last read. */
  #stored: ReadonlyMap<string, number> = new Map()
  #isLogged = false
  /** Work that started during a batch would count its hits twice, or not at all. */
  readonly #mutex = new Mutex()

  constructor(parts: ResponseHitMeterParts) {
    this.#parts = parts
  }

  flush(): Promise<void> {
    return this.#mutex.take(() => this.#flushOnce())
  }

  /** Sums of all nodes, with those of this one that are not stored yet. */
  totals = (): Promise<ReadonlyMap<string, number>> => this.#mutex.take(() => this.#sum())

  async #sum(): Promise<ReadonlyMap<string, number>> {
    const { store, isThere } = this.#parts
    if (isThere()) {
      const stored = await store.totals()
      this.#tell(stored.ok ? '' : stored.error.message)
      if (stored.ok) this.#stored = stored.value
    }
    this.#gather()
    const sums = new Map(this.#stored)
    for (const hits of [this.#batch?.hits ?? [], this.#waiting]) {
      for (const [uid, count] of hits) sums.set(uid, (sums.get(uid) ?? 0) + count)
    }
    return sums
  }

  async #flushOnce(): Promise<void> {
    const { store, clock } = this.#parts
    this.#gather()
    while (this.#batch !== null || this.#waiting.size > 0) {
      this.#batch ??= this.#nextBatch(clock.nowMs())
      const added = await store.add(this.#batch)
      this.#tell(added.ok ? '' : added.error.message)
      if (!added.ok) return
      this.#batch = null
    }
    if (this.#gone.size === 0) return
    const gone = [...this.#gone]
    const forgotten = await store.forget(gone)
    if (forgotten.ok) for (const uid of gone) this.#gone.delete(uid)
  }

  #gather(): void {
    const counted = this.#parts.counted()
    for (const [uid, hits] of counted) {
      const before = this.#taken.get(uid) ?? 0
      // Lower: the rule was removed, and has come back.
      const more = hits < before ? hits : hits - before
      if (more > 0) this.#waiting.set(uid, (this.#waiting.get(uid) ?? 0) + more)
      this.#gone.delete(uid)
    }
    for (const uid of this.#taken.keys()) {
      if (counted.has(uid)) continue
      this.#gone.add(uid)
      this.#waiting.delete(uid)
    }
    this.#taken = counted
  }

  #nextBatch(nowMs: number): ResponseHitBatch {
    const hits = new Map<string, number>()
    for (const [uid, count] of this.#waiting) {
      if (hits.size === responseHitLimits.rulesPerBatchMax) break
      hits.set(uid, count)
      this.#waiting.delete(uid)
    }
    return { id: uuidV7(nowMs), nowMs, hits }
  }

  /** Logs once that the store is away; counting goes on. */
  #tell(fault: string): void {
    const { log } = this.#parts
    const isAway = fault !== ''
    if (isAway && !this.#isLogged) {
      log.warn({}, `hits of response rules and redirects are not stored yet: ${fault}`)
    }
    if (!isAway && this.#isLogged) log.info({}, 'hits of response rules and redirects are stored')
    this.#isLogged = isAway
  }
}
