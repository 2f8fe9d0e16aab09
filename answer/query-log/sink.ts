// Defines what a place for dnstap records does, and the batch of frames that each of them fills.
import { frameHead } from './frame-stream.ts'
import { queryLogLimits } from './limits.ts'

export interface Sink {
  /** Takes a record, or drops and counts it; never waits. */
  write(record: Uint8Array): void
  /** Sends what was taken on its way. */
  flush(): void
  /** Resolves when what was taken is written, or cannot be in time. */
  close(): Promise<void>
  readonly counts: SinkCounts
}

/** Since the start. */
export interface SinkCounts {
  written: number
  dropped: number
  bytes: number
  /** Records are taken now. A file is up once its first record is written. */
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

  /** @param record its memory may be used again afterwards */
  add(record: Uint8Array): void {
    const head = frameHead(record.length)
    this.#parts.push(head, Uint8Array.from(record))
    this.#bytes += head.length + record.length
    this.#records++
  }

  /** The frames; the batch is empty afterwards. */
  take(): Buffer {
    const octets = Buffer.concat(this.#parts, this.#bytes)
    this.#parts = []
    this.#bytes = 0
    this.#records = 0
    return octets
  }
}
