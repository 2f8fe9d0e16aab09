// Defines the counters of the redirect listener in shared memory: written by its thread, read by
// the main one.

/** A request's answer by its status; others are counted as `other`. */
const redirectStatuses = [301, 302, 307, 308, 400, 404, 408, 431, 503] as const

const Slot = { Open: 0, Accepted: 1, Refused: 2, LogDropped: 3, Other: 4, Status: 5 } as const

export interface RedirectCounts {
  readonly open: number
  readonly accepted: number
  /** Connections over a limit. */
  readonly refused: number
  /** Lines of the access log that were dropped. */
  readonly logDropped: number
  readonly byStatus: Readonly<Record<string, number>>
}

/** Doubles hold whole numbers up to 2^53, and a store of eight aligned octets is never torn. */
export class RedirectCounters {
  readonly #slots: Float64Array

  constructor(shared: SharedArrayBuffer) {
    this.#slots = new Float64Array(shared)
  }

  static bytes = (Slot.Status + redirectStatuses.length) * 8

  opened(): void {
    this.#slots[Slot.Open]! += 1
    this.#slots[Slot.Accepted]! += 1
  }

  closed(): void {
    this.#slots[Slot.Open]! -= 1
  }

  refused(): void {
    this.#slots[Slot.Refused]! += 1
  }

  logDropped(lines: number): void {
    this.#slots[Slot.LogDropped]! += lines
  }

  answered(status: number): void {
    const i = (redirectStatuses as readonly number[]).indexOf(status)
    this.#slots[i < 0 ? Slot.Other : Slot.Status + i]! += 1
  }

  /** Sets the open connections to zero, because a thread that died has left its own uncounted. */
  forgetOpen(): void {
    this.#slots[Slot.Open] = 0
  }

  read(): RedirectCounts {
    const at = (slot: number): number => this.#slots[slot]!
    const named = redirectStatuses.map((status, i) => [String(status), at(Slot.Status + i)])
    return {
      open: at(Slot.Open),
      accepted: at(Slot.Accepted),
      refused: at(Slot.Refused),
      logDropped: at(Slot.LogDropped),
      byStatus: { ...Object.fromEntries(named), other: at(Slot.Other) } as Record<string, number>,
    }
  }
}
