// Separates queries lost because a node was killed from those lost while it ran.

/** A query counts as lost two seconds after it was sent, and is in the next report. */
const knownMs = 4_000
/** Losses longer than this after a kill have another cause. */
const downMostMs = 60_000

interface NodeSecond {
  readonly name: string
  /** Time of the last kill; -Infinity: never. */
  readonly killedMs: number
  /** Queries lost in this second. */
  readonly lost: number
}

/** All times are in milliseconds of one clock. */
export class Downs {
  /** When a killed node answered all queries again. */
  readonly #upMs = new Map<string, number>()
  #sinceMs = 0

  /** Treats nodes killed before as up from now on. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#upMs.clear()
  }

  /** Down from the kill until it answers all queries again, for at most a minute. */
  isDown({ name, killedMs, lost }: NodeSecond, nowMs: number): boolean {
    if (killedMs < (this.#upMs.get(name) ?? this.#sinceMs)) return false
    if (nowMs > killedMs + downMostMs) return false
    // Losses are not known before then.
    if (lost === 0 && nowMs > killedMs + knownMs) this.#upMs.set(name, nowMs)
    return true
  }
}
