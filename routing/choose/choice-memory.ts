// Keeps the memory of a thread's stored choices from one bundle to the next.

/**
 * Outlives a bundle: allocating 30 MiB for each bundle would take an answering thread tens of
 * milliseconds.
 */
export class ChoiceMemory {
  words = new Int32Array(0)
  /** The owner of the columns; another owner's contents are void. */
  owner: object | null = null

  reserve(words: number): Int32Array {
    if (this.words.length < words) this.words = new Int32Array(words)
    return this.words
  }
}
