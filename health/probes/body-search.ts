// Searches the first bytes of a body that arrives in chunks for a text.
import { healthLimits } from '#health/limits.ts'

export type SearchState = 'found' | 'more' | 'capped'

export class BodySearch {
  readonly #needle: Buffer
  readonly #bytesMax: number
  #bytesRead = 0
  /** Up to needle length - 1 last bytes, where a match across two pieces may have begun. */
  #tail: Buffer = Buffer.alloc(0)

  /** @param needle not empty; compared as UTF-8 bytes. */
  constructor(needle: string, bytesMax: number = healthLimits.bodyBytesMax) {
    this.#needle = Buffer.from(needle)
    this.#bytesMax = bytesMax
  }

  /** `capped` once `bytesMax` bytes were searched in vain; a match must end inside them. */
  feed(piece: Buffer): SearchState {
    const chunk = piece.subarray(0, this.#bytesMax - this.#bytesRead)
    this.#bytesRead += chunk.length
    const overlap = this.#needle.length - 1
    // Only the seam is copied; the chunk itself is searched where it lies.
    const seam = Buffer.concat([this.#tail, chunk.subarray(0, overlap)])
    if (seam.includes(this.#needle) || chunk.includes(this.#needle)) return 'found'
    if (this.#bytesRead >= this.#bytesMax) return 'capped'
    this.#tail = chunk.length >= overlap ? lastBytes(chunk, overlap) : lastBytes(seam, overlap)
    return 'more'
  }
}

/** A copy, so that a small tail does not hold a large read buffer. */
function lastBytes(bytes: Buffer, count: number): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, bytes.length - count)))
}
