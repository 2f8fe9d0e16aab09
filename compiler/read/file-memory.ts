// Cache of parsed files, by blob id. Changed in place: with ten thousand objects a new map for each
// compilation would cause most of the garbage collector's pauses.
import type { ReadFile } from './read-file.ts'

export class FileMemory {
  readonly #files = new Map<string, ReadFile>()
  /** Number of the current or last compilation. */
  #round = 0
  /** Number of files in this round. */
  #count = 0

  has(blobId: string): boolean {
    return this.#files.has(blobId)
  }

  get(blobId: string): ReadFile | undefined {
    return this.#files.get(blobId)
  }

  /** Adds a file parsed elsewhere, for the next compilation. */
  learn(file: ReadFile): void {
    if (!this.#files.has(file.blobId)) this.#files.set(file.blobId, file)
  }

  begin(): void {
    this.#round++
    this.#count = 0
  }

  /** Marks a file, new or from this memory, as part of this compilation. */
  keep(file: ReadFile): void {
    if (file.memo.round === this.#round) return
    // Round 0: the file is not in the map yet.
    if (file.memo.round === 0) this.#files.set(file.blobId, file)
    file.memo.round = this.#round
    this.#count++
  }

  /** Drops files that are not part of this compilation. */
  end(): void {
    if (this.#count === this.#files.size) return
    this.#files.forEach((file, blobId) => {
      if (file.memo.round !== this.#round) this.#files.delete(blobId)
    })
  }
}
