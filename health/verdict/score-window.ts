// Computes the score of a member: the share of its last `scoreWindow` probes that passed.
import { assert } from '#lib/assert.ts'

/** A ring of bits. While it is not full, only the probes made so far count. */
export class ScoreWindow {
  readonly #size: number
  readonly #bits: Uint32Array
  #next = 0
  #filled = 0
  #successes = 0

  /** @param size number of probes, at least 1 */
  constructor(size: number) {
    assert(size >= 1, 'a score is of one probe at least')
    this.#size = size
    this.#bits = new Uint32Array(Math.ceil(size / 32))
  }

  /** @returns the score with this result, 0 to 1 */
  add(success: boolean): number {
    const word = this.#next >>> 5
    const bit = 1 << (this.#next & 31)
    if (this.#filled === this.#size) this.#successes -= (this.#bits[word]! & bit) === 0 ? 0 : 1
    else this.#filled++
    if (success) {
      this.#bits[word]! |= bit
      this.#successes++
    } else {
      this.#bits[word]! &= ~bit
    }
    this.#next = (this.#next + 1) % this.#size
    const isShare = this.#successes >= 0 && this.#successes <= this.#filled
    assert(isShare, 'at most as many probes passed as were made')
    return this.#successes / this.#filled
  }
}
