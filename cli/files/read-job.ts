// Files of configuration that several threads read: each takes the next ones until none is left.
import { readFile } from '#compiler/read/read-file.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'

/** In memory that both threads see. */
export interface ReadJob {
  readonly blobIds: readonly string[]
  /** Where each begins in `octets`, and where the last one ends. */
  readonly offsets: Float64Array
  readonly octets: Uint8Array
  /** One cell: the first file that nobody has taken. */
  readonly next: Int32Array
}

/** Taken at once. */
const chunkFiles = 64

/** The files that this thread gets of a job. */
export function* readChunks({ blobIds, offsets, octets, next }: ReadJob): Generator<ReadFile> {
  for (;;) {
    const first = Atomics.add(next, 0, chunkFiles)
    if (first >= blobIds.length) return
    const end = Math.min(first + chunkFiles, blobIds.length)
    for (let i = first; i < end; i++) {
      // A copy: the decoder takes no shared memory.
      yield readFile(blobIds[i]!, octets.slice(offsets[i], offsets[i + 1]))
    }
  }
}
