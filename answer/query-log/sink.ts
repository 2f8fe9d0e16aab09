// Defines the interface of a destination for dnstap records, and the batch of frames that each
// keeps.
import { frameHead } from './frame-stream.ts'
import { queryLogLimits } from './limits.ts'

export interface Sink {
  /** Accepts a record, or drops and counts it; never waits. */
  write(record: Uint8Array): void
  /** Starts sending the accepted records. */
  flush(): void
  /** Resolves when the accepted records are written, or the time for that is over. */
  close(): Promise<void>
  readonly counts: SinkCounts
}

/** Since the start. */
export interface SinkCounts {
  written: number
  dropped: number
  bytes: number
  /** Records are accepted now. A file is up once its first record is written. */
  isUp: boolean
  /** The last try failed. */
  isFailing: boolean
}

export const noCounts = (): SinkCounts => ({
  ...{ written: 0, dropped: 0, bytes: 0, isUp: false, isFailing: false },
})

/** Frames that are written with one call. */
export class FrameBatch {
  #parts: Uint8Array[] = []
  #bytes = 0
  #records = 0

  get bytes(): number {
    return this.#bytes
  }

  get records(): number {
    return this.#records
  }

  get isFull(): boolean {
    return this.#bytes >= queryLogLimits.batchBytes
  }

  /** @param record its memory may be reused afterwards */
  add(record: Uint8Array): void {
    const head = frameHead(record.length)
    this.#parts.push(head, Uint8Array.from(record))
    this.#bytes += head.length + record.length
    this.#records++
  }

  /** Returns the frames and empties the batch. */
  take(): Buffer {
    const octets = Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#bytes = 0
    this.#records = 0
    return octets
  }
}
