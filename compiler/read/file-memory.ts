// Cache of parsed files, by blob id. Changed in place: with ten thousand objects a new map for each
// compilation would cause most of the garbage collector's pauses.
import type { ReadFile } from './read-file.ts'

export class FileMemory {
  readonly #files = new Map<string, ReadFile>()
  /** Number of the compilation under way, or else of the last one. */
  #round = 0
  /** Files of this round. */
  #count = 0

  has(blobId: string): boolean {
    return this.#files.has(blobId)
  }

  get(blobId: string): ReadFile | undefined {
    return this.#files.get(blobId)
  }

  /** What was read elsewhere, for the next compilation. */
  learn(file: ReadFile): void {
    if (!this.#files.has(file.blobId)) this.#files.set(file.blobId, file)
  }

  begin(): void {
    this.#round++
    this.#count = 0
  }

  /** The file belongs to this compilation. It comes from this memory, or is new. */
  keep(file: ReadFile): void {
    if (file.memo.round === this.#round) return
    // A round of 0 is that of a file which nobody has kept yet.
    if (file.memo.round === 0) this.#files.set(file.blobId, file)
    file.memo.round = this.#round
    this.#count++
  }

  /** Forgets what does not belong to this compilation. */
  end(): void {
    if (this.#count === this.#files.size) return
    this.#files.forEach((file, blobId) => {
      if (file.memo.round !== this.#round) this.#files.delete(blobId)
    })
  }
}
