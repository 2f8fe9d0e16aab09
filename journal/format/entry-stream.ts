// Collects entries into one record: the time of the first, and the delays of the others.
import { writeTime } from './changes.ts'
import { journalLimits } from './limits.ts'
import { OctetWriter } from './octets.ts'
import type { RecordTimes } from './records.ts'

interface SealedEntries {
  readonly times: RecordTimes
  readonly payload: Buffer
}

export class EntryStream {
  readonly octets = new OctetWriter(4_096)
  #from: RecordTimes | undefined
  /** Milliseconds of the last entry after `#from`. */
  #lastMs = 0

  /**
   * Sets the time of the entries that follow.
   *
   * @returns false: a clock was set, so they need a new record
   */
  isAt(now: RecordTimes): boolean {
    const from = this.#from
    if (from === undefined) {
      this.#from = now
      this.#lastMs = 0
      return true
    }
    const passedMs = now.monotonicMs - from.monotonicMs
    const drift = Math.abs(now.wallMs - from.wallMs - passedMs)
    if (drift > journalLimits.driftMs) return false
    const ms = Math.max(this.#lastMs, Math.floor(passedMs))
    if (ms > this.#lastMs) writeTime(this.octets, ms - this.#lastMs)
    this.#lastMs = ms
    return true
  }

  /** Empties the stream. undefined: there are no entries. */
  take(): SealedEntries | undefined {
    const times = this.#from
    if (times === undefined) return undefined
    this.#from = undefined
    const payload = this.octets.take()
    return payload.length === 0 ? undefined : { times, payload }
  }
}
