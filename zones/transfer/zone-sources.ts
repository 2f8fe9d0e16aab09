// What transfers read on a thread: the generation that it serves, and older ones that a running
// transfer still needs.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { ServingView } from '#answer/serving-view.ts'
import { transferLimits } from './limits.ts'
import type { TransferLimits } from './limits.ts'
import type { TransferHistory } from './transfer-history.ts'
import { ZoneSource } from './zone-source.ts'

export class ZoneSources {
  readonly #limits: TransferLimits
  readonly #history: TransferHistory | undefined
  #view: ServingView | undefined
  #current: ZoneSource | undefined
  /** Sources with an earlier serial of this view, and those of views before it. Oldest first. */
  #older: ZoneSource[] = []
  /** By digest: bundles that nobody serves any more, one copy for all transfers that read them. */
  #copies: ReadonlyMap<string, Bundle> = new Map()

  constructor(limits: TransferLimits = transferLimits, history?: TransferHistory) {
    this.#limits = limits
    this.#history = history
  }

  /**
   * The thread serves `view` from now on, and lets the memory of the one before go: it will be
   * given to the next generation but one. A transfer that still reads it reads a copy from now on.
   */
  adopt(view: ServingView): void {
    this.#retire()
    // The memory of the view before is as it was until this thread says that it serves the next.
    if (this.#view !== undefined) this.#history?.note(this.#view, view)
    this.#view = view
    const { olderBundlesMax, olderTextsMax } = this.#limits
    const bundles = new Kept([view.bundle], this.#copies, olderBundlesMax)
    const texts = new Kept(
      view.dynamic === undefined ? [] : [view.dynamic],
      this.#copies,
      olderTextsMax,
    )
    // The newest first: where there are too many, the oldest go.
    for (const source of this.#older.toReversed()) {
      const bundle = bundles.find(source.bundle)
      const dynamic = source.dynamic === undefined ? undefined : texts.find(source.dynamic)
      if (bundle === undefined || (dynamic === undefined && source.dynamic !== undefined)) {
        source.end()
      } else {
        source.moveTo(bundle, dynamic)
      }
    }
    this.#older = this.#older.filter((source) => !source.isOver)
    this.#copies = new Map([...bundles.copies, ...texts.copies])
  }

  /** Older bundles in memory, and their octets. */
  kept(): { readonly bundles: number; readonly bytes: number } {
    let bytes = 0
    for (const copy of this.#copies.values()) bytes += copy.bytes.length
    return { bundles: this.#copies.size, bytes }
  }

  #retire(): void {
    this.#older = this.#older.filter((source) => source.isUsed)
    if (this.#current?.isUsed === true) this.#older.push(this.#current)
    this.#current = undefined
  }

  /** undefined before the first generation. */
  current(): ZoneSource | undefined {
    if (this.#view === undefined) return undefined
    const { bundle, dynamic, state } = this.#view
    const serial = state.soaSerial[0]!
    // The serial may rise while a generation serves.
    if (this.#current !== undefined && this.#current.serial !== serial) this.#retire()
    this.#current ??= new ZoneSource(bundle, dynamic, serial, this.#history?.content)
    return this.#current
  }
}

/** Bundles by digest: those that serve, and copies of others as far as the limit permits. */
class Kept {
  readonly #served: readonly Bundle[]
  readonly #known: ReadonlyMap<string, Bundle>
  readonly #copiesMax: number
  readonly copies = new Map<string, Bundle>()

  constructor(served: readonly Bundle[], known: ReadonlyMap<string, Bundle>, copiesMax: number) {
    this.#served = served
    this.#known = known
    this.#copiesMax = copiesMax
  }

  /** @returns the same octets in memory that stays; undefined: there are too many copies */
  find({ digest, bytes }: Bundle): Bundle | undefined {
    const found = this.#served.find((one) => one.digest === digest) ?? this.copies.get(digest)
    if (found !== undefined) return found
    if (this.copies.size >= this.#copiesMax) return undefined
    const copy = this.#known.get(digest) ?? adoptBundle(new Uint8Array(bytes), digest)
    this.copies.set(digest, copy)
    return copy
  }
}
