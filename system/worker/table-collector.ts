// Forces a garbage collection after geo tables were replaced; a thread that never allocates never
// collects.
import type { RoutingTables } from '#routing/choose/environment.ts'
import { exposedCollector } from '#lib/memory/exposed-collector.ts'

/**
 * A thread that answers allocates nothing and so never collects garbage by itself, and V8 does not
 * count shared memory as a reason to: what a thread was once handed would stay with the process.
 * Bundles reuse memory for that reason (server/node/generation-memory.ts). Geo tables are a dozen
 * buffers of any size that another thread makes, once in days: for them a collection of a few
 * milliseconds, between two batches, is simpler.
 */
export class TableCollector {
  readonly #collect = exposedCollector()
  #number = 0

  /**
   * Collects what the start of a thread and its rehearsals of a swap left behind. Otherwise the
   * young generation would fill up at one of the first swaps, and collecting it then takes longer
   * than a swap.
   */
  started(): void {
    this.#collect()
  }

  /**
   * Collects when the tables are new.
   *
   * @param number number of the tables that the thread took over
   */
  takenOver(number: number): void {
    const isReplaced = this.#number !== 0 && this.#number !== number
    this.#number = number
    if (isReplaced) this.#collect()
  }
}

/**
 * Numbers tables for `TableCollector`, on the publisher's side: tables in other memory get another
 * number.
 */
export class TableNumbers {
  #tables: RoutingTables | undefined
  #number = 0

  /**
   * @returns a number from 1 on; it differs from the last one when a thread has memory to release
   */
  next(tables: RoutingTables): number {
    const before = this.#tables
    // Other tables lie in generation memory, or never move.
    const isSame =
      tables.geo === before?.geo && tables.asn === before.asn && tables.regions === before.regions
    if (!isSame) this.#number++
    this.#tables = tables
    return this.#number
  }
}
