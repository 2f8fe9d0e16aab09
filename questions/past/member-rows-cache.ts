// Remembers which rows of past bundles belong to pools that were looked at lately: finding out
// takes a compilation.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { RowsOf } from '#journal/member-history.ts'

export const knownRowsLimits = {
  /** Entries, each for a pool or a single member. */
  askedMax: 16,
  /** After so long, rows that were not found are looked for again. */
  keptMs: 600_000,
} as const

interface AskedMembers {
  readonly tenant: string
  readonly members: readonly string[]
}

interface Known {
  readonly rowsOf: RowsOf
  readonly fromMs: number
}

export class KnownRows {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** Entries in the order of use, the last one at the end. */
  readonly #known = new Map<string, Known>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  of(asked: AskedMembers): RowsOf {
    const known = this.#known.get(keyOf(asked))
    const isFresh = known !== undefined && this.#ageMs(known) < knownRowsLimits.keptMs
    return isFresh ? known.rowsOf : nothing
  }

  /** @param rowsOf all known rows, earlier ones included */
  keep(asked: AskedMembers, rowsOf: RowsOf): void {
    const key = keyOf(asked)
    const before = this.#known.get(key)
    const isFresh = before !== undefined && this.#ageMs(before) < knownRowsLimits.keptMs
    this.#known.delete(key)
    const fromMs = isFresh ? before.fromMs : this.#clock.monotonicMs()
    this.#known.set(key, { rowsOf, fromMs })
    const [oldest] = this.#known.keys()
    if (this.#known.size > knownRowsLimits.askedMax) this.#known.delete(oldest!)
    assert(this.#known.size <= knownRowsLimits.askedMax, 'what is remembered is within its limit')
  }

  #ageMs({ fromMs }: Known): number {
    return this.#clock.monotonicMs() - fromMs
  }
}

const nothing: RowsOf = new Map()

const keyOf = ({ tenant, members }: AskedMembers): string => JSON.stringify([tenant, members])
