// Collects entries into one record, with the time of the first and the delays of the others.
import { writeTime } from './changes.ts'
import { journalLimits } from './limits.ts'
import { OctetWriter } from './octets.ts'
import type { RecordTimes } from './records.ts'

export interface SealedEntries {
  readonly times: RecordTimes
  readonly payload: Buffer
}

export class EntryStream {
  readonly octets = new OctetWriter(4_096)
  #from: RecordTimes | undefined
  /** Whole milliseconds after `#from` of the last entry. */
  #lastMs = 0

  /** The entries that follow are of now. @returns false: a clock was set, they need a new record */
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

  /** undefined: there are none. The stream is empty afterwards. */
  take(): SealedEntries | undefined {
    const times = this.#from
    if (times === undefined) return undefined
    this.#from = undefined
    const payload = this.octets.take()
    return payload.length === 0 ? undefined : { times, payload }
  }
}
