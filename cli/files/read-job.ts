// Divides files of configuration among threads: each takes the next ones until none is left.
import { readFile } from '#compiler/read/read-file.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'

/** In memory that both threads share. */
export interface ReadJob {
  readonly blobIds: readonly string[]
  /** Where each file begins in `octets`, and where the last one ends. */
  readonly offsets: Float64Array
  readonly octets: Uint8Array
  /** Index of the first file that no thread has taken, in one cell. */
  readonly next: Int32Array
}

/** Files that are taken at once. */
const chunkFiles = 64

/** Yields the files that this thread takes. */
export function* readChunks({ blobIds, offsets, octets, next }: ReadJob): Generator<ReadFile> {
  for (;;) {
    const first = Atomics.add(next, 0, chunkFiles)
    if (first >= blobIds.length) return
    const end = Math.min(first + chunkFiles, blobIds.length)
    for (let i = first; i < end; i++) {
      // A copy, since the decoder does not take shared memory.
      yield readFile(blobIds[i]!, octets.slice(offsets[i], offsets[i + 1]))
    }
  }
}
