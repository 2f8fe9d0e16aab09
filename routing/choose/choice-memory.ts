// Holds the memory in which a thread keeps its choices by a table, from one bundle to the next.

/** Made anew for each bundle, 30 MiB would take a thread that answers tens of milliseconds. */
export class ChoiceMemory {
  words = new Int32Array(0)
  /** Whose columns they are: what others kept in it is gone. */
  owner: object | null = null

  reserve(words: number): Int32Array {
    if (this.words.length < words) this.words = new Int32Array(words)
    return this.words
  }
}
