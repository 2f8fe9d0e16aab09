// Searches the first octets of a body for a text, as its chunks arrive.
import { healthLimits } from '#health/limits.ts'

export type SearchState = 'found' | 'more' | 'capped'

export class BodySearch {
  readonly #needle: Buffer
  readonly #bytesMax: number
  #bytesRead = 0
  /** The last octets, at most the needle's length less 1: a match may have begun there. */
  #tail: Buffer = Buffer.alloc(0)

  /** @param needle not empty; compared as UTF-8 octets */
  constructor(needle: string, bytesMax: number = healthLimits.bodyBytesMax) {
    this.#needle = Buffer.from(needle)
    this.#bytesMax = bytesMax
  }

  /**
   * Returns `capped` once `bytesMax` octets were searched in vain; a match must end within them.
   */
  feed(piece: Buffer): SearchState {
    const chunk = piece.subarray(0, this.#bytesMax - this.#bytesRead)
    this.#bytesRead += chunk.length
    const overlap = this.#needle.length - 1
    // Only the seam between chunks is copied; the chunk itself is searched in place.
    const seam = Buffer.concat([this.#tail, chunk.subarray(0, overlap)])
    if (seam.includes(this.#needle) || chunk.includes(this.#needle)) return 'found'
    if (this.#bytesRead >= this.#bytesMax) return 'capped'
    this.#tail = chunk.length >= overlap ? lastBytes(chunk, overlap) : lastBytes(seam, overlap)
    return 'more'
  }
}

/** A copy, so that a few octets do not keep a large read buffer alive. */
function lastBytes(bytes: Buffer, count: number): Buffer {
  return Buffer.from(bytes.subarray(Math.max(0, bytes.length - count)))
}
