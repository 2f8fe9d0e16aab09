// Pools shared memory of generations: a new generation reuses that of the one before last.
import { bundleLimits } from '#bundle/format/limits.ts'
import { assert } from '#lib/assert.ts'
import { markBytesMax } from '#answer/counters/use-marks.ts'
import { networkBytesMax } from '#routing/tables/network-layout.ts'
import type { RoutingBuffers, RoutingMemory } from '#routing/state/state.ts'

/**
 * Two halves of memory, used in turn. A thread that allocates nothing never collects garbage, so it
 * never frees a buffer that it was handed: with a new buffer for each swap, a node would grow by a
 * bundle a swap. With two halves a thread can hold no more than both.
 */
export class DoubleBuffer {
  readonly #bytesMax: number
  readonly #halves: (SharedArrayBuffer | undefined)[] = [undefined, undefined]
  /** The half that the published generation lies in. */
  #published = 0
  /** Whether the other half is new since then, so that no thread has seen it. */
  #isNew = true

  /** @param bytesMax address space that is reserved; memory is taken as it is needed */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /**
   * The half that the published generation does not lie in; repeated calls return the same one.
   *
   * @param isFree false: a thread may still read that half, so a new one takes its place
   */
  next(bytes: number, isFree: boolean): SharedArrayBuffer {
    assert(bytes <= this.#bytesMax, 'the limits of a bundle keep a generation within its memory')
    const other = this.#published ^ 1
    let half = isFree || this.#isNew ? this.#halves[other] : undefined
    if (half === undefined) {
      half = new SharedArrayBuffer(bytes, { maxByteLength: this.#bytesMax })
      this.#halves[other] = half
      this.#isNew = true
    }
    if (half.byteLength < bytes) half.grow(bytes)
    assert(half !== this.#halves[this.#published], 'memory that serves is not given out')
    return half
  }

  publish(half: ArrayBufferLike): void {
    this.#published = this.#halves.findIndex((known) => known === half)
    assert(this.#published >= 0, 'what is published lies in one of the halves')
    this.#isNew = false
  }
}

/** The largest table that the limits of bundle/format/limits.ts allow, and a little more. */
const tableBytesMax = bundleLimits.membersMax * 24 + bundleLimits.poolsMax * 64 + 4096
const cursorBytesMax = bundleLimits.servicesMax * 8
const hitBytesMax = bundleLimits.responseRulesMax * 8
const queryBytesMax = bundleLimits.servicesMax * 8

interface CountBuffers {
  readonly hits: SharedArrayBuffer
  readonly queries: SharedArrayBuffer
}

export class GenerationMemory {
  readonly #bundles = new DoubleBuffer(bundleLimits.bytesMax)
  readonly #tables = new DoubleBuffer(tableBytesMax)
  readonly #cursors = new DoubleBuffer(cursorBytesMax)
  readonly #hits = new DoubleBuffer(hitBytesMax)
  readonly #queries: DoubleBuffer
  readonly #networks = new DoubleBuffer(networkBytesMax)

  /** @param threads how many count queries */
  constructor(threads: number) {
    this.#queries = new DoubleBuffer(markBytesMax + queryBytesMax * threads)
  }

  /** Copies a whole bundle. */
  bundle(bytes: Uint8Array, isFree: boolean): Uint8Array {
    const copy = new Uint8Array(this.#bundles.next(bytes.length, isFree), 0, bytes.length)
    copy.set(bytes)
    return copy
  }

  routing(isFree: boolean): RoutingMemory {
    return {
      table: (bytes) => cleared(this.#tables.next(bytes, isFree), bytes),
      cursors: (bytes) => cleared(this.#cursors.next(bytes, isFree), bytes),
    }
  }

  /** Returns zeroed memory for the hits of response rules. */
  hits(bytes: number, isFree: boolean): SharedArrayBuffer {
    return cleared(this.#hits.next(bytes, isFree), bytes)
  }

  /** Returns zeroed memory for the cells of query-meter.ts. */
  queries(bytes: number, isFree: boolean): SharedArrayBuffer {
    return cleared(this.#queries.next(bytes, isFree), bytes)
  }

  /** Returns memory for `packNetworks`, which writes every octet that is read of it. */
  networks(bytes: number, isFree: boolean): SharedArrayBuffer {
    return this.#networks.next(bytes, isFree)
  }

  /**
   * Marks these halves as serving, so that they are not returned again. A generation that fails
   * before this costs nothing: the next one gets the same halves.
   */
  publish(
    bundle: Uint8Array,
    { table, cursors }: RoutingBuffers,
    { hits, queries }: CountBuffers,
    networks: SharedArrayBuffer | null,
  ): void {
    this.#bundles.publish(bundle.buffer)
    this.#tables.publish(table)
    this.#cursors.publish(cursors)
    this.#hits.publish(hits)
    this.#queries.publish(queries)
    if (networks !== null) this.#networks.publish(networks)
  }
}

function cleared(buffer: SharedArrayBuffer, bytes: number): SharedArrayBuffer {
  new Uint8Array(buffer, 0, bytes).fill(0)
  return buffer
}
