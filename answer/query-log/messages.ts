// Messages between the main thread and the thread of the query log.
import type { LogMessage } from '#system/worker/worker-log.ts'
import type { EncoderSettings } from './dnstap.ts'
import type { SinkCounts } from './sink.ts'

export interface QueryLogWorkerData extends EncoderSettings {
  readonly to: QueryLogPlace
  readonly rings: readonly SharedArrayBuffer[]
  /** The memory of CountCells. */
  readonly counts: SharedArrayBuffer
}

export type QueryLogPlace =
  | { readonly kind: 'socket'; readonly path: string }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly fileBytesMax: number
      readonly keptFiles: number
    }

export type ToQueryLogWorker = { readonly kind: 'stop' }
export type FromQueryLogWorker = LogMessage

/** Counts in shared memory as 64-bit numbers, summed over all threads the query log has had. */
export class CountCells {
  static readonly bytes = 5 * 8
  readonly #cells: Float64Array
  /** Counts of the earlier threads. */
  readonly #before: readonly number[]

  constructor(shared: SharedArrayBuffer) {
    this.#cells = new Float64Array(shared)
    this.#before = [...this.#cells]
  }

  put({ written, dropped, bytes, isUp, isFailing }: SinkCounts): void {
    this.#cells[0] = this.#before[0]! + written
    this.#cells[1] = this.#before[1]! + dropped
    this.#cells[2] = this.#before[2]! + bytes
    this.#cells[3] = isUp ? 1 : 0
    this.#cells[4] = isFailing ? 1 : 0
  }

  read(): SinkCounts {
    const [written = 0, dropped = 0, bytes = 0, isUp = 0, isFailing = 0] = this.#cells
    return { written, dropped, bytes, isUp: isUp === 1, isFailing: isFailing === 1 }
  }

  /** Clears the flag after the thread has ended, at a stop or on its own. */
  forgetUp(): void {
    this.#cells[3] = 0
    this.#cells[4] = 1
  }
}
