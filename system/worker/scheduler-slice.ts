// Sets the scheduler slice of a thread: shorter while it mostly waits for queries.
import type { Libc } from '#system/sockets/libc.ts'

/** struct sched_attr in its first version: sched_setattr(2). */
const Attr = { Bytes: 48, Policy: 4, RuntimeNs: 24 } as const
const policyOther = 0

/** Batches between two looks at the mean batch length: some ten looks a second under load. */
const lookBatches = 1_024
/** Mean queries of a batch from which the thread counts as busy. */
const busyFrom = 8
/** Mean queries of a batch up to which the thread mostly waits. */
const calmUpTo = 5

/**
 * Shortens the scheduler slice of the calling thread while it mostly waits for queries. From Linux
 * 6.12 on a thread that wakes up preempts one with a longer slice, such as a compilation, instead
 * of waiting for its end. Its share of the core stays the same. A thread that is always busy gets
 * the usual slice back, since a short one would only make its batches short. Needs no privilege.
 * Does nothing where the kernel does not report slices, or where the operator has set another
 * scheduling policy.
 */
export class SchedulerSlice {
  readonly #libc: Libc
  /** Attributes of the thread at its start; null: they are not changed. */
  readonly #usual: Uint8Array | null
  readonly #short: Uint8Array
  #isShort = false
  #batches = 0
  #queries = 0

  constructor(libc: Libc) {
    this.#libc = libc
    const usual = new Uint8Array(Attr.Bytes)
    this.#short = new Uint8Array(Attr.Bytes)
    this.#usual =
      libc.threadAttributes(usual) === 0 && canShorten(usual, this.#short) ? usual : null
    this.#use(true)
  }

  /** Counts a batch. @param queries number of queries in the batch */
  took(queries: number): void {
    this.#queries += queries
    if (++this.#batches < lookBatches) return
    if (this.#queries >= busyFrom * lookBatches) this.#use(false)
    else if (this.#queries <= calmUpTo * lookBatches) this.#use(true)
    this.#batches = 0
    this.#queries = 0
  }

  #use(isShort: boolean): void {
    if (this.#usual === null || isShort === this.#isShort) return
    this.#isShort = isShort
    this.#libc.setThreadAttributes(isShort ? this.#short : this.#usual)
  }
}

/**
 * Writes the attributes of `usual` with a shorter slice to `short`.
 *
 * @returns false: the slice must not be changed
 */
function canShorten(usual: Uint8Array, short: Uint8Array): boolean {
  short.set(usual)
  const attributes = new DataView(short.buffer)
  const turnNs = attributes.getBigUint64(Attr.RuntimeNs, true)
  attributes.setBigUint64(Attr.RuntimeNs, (turnNs * 7n) / 10n, true)
  return attributes.getUint32(Attr.Policy, true) === policyOther && turnNs > 0n
}
