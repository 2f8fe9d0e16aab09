// Tells queries that were lost because a node was killed from those that it lost while it ran.

/** A query is lost two seconds after it was sent, and told with the next report. */
const knownMs = 4_000
/** A node that was killed longer ago than this and still loses queries has another reason. */
const downMostMs = 60_000

export interface NodeSecond {
  readonly name: string
  /** When it was killed last; -Infinity: never. */
  readonly killedMs: number
  /** Queries that it lost in this second. */
  readonly lost: number
}

/** All times are of one clock, in milliseconds. */
export class Downs {
  /** When a node answered all again that had been killed. */
  readonly #upMs = new Map<string, number>()
  #sinceMs = 0

  /** Counts nodes that were killed before as up from now on. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#upMs.clear()
  }

  /** From when it is killed until it answers all again, for a minute at most. */
  isDown({ name, killedMs, lost }: NodeSecond, nowMs: number): boolean {
    if (killedMs < (this.#upMs.get(name) ?? this.#sinceMs)) return false
    if (nowMs > killedMs + downMostMs) return false
    // Until then nobody knows what is lost.
    if (lost === 0 && nowMs > killedMs + knownMs) this.#upMs.set(name, nowMs)
    return true
  }
}
