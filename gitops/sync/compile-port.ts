// The port to the compiler, and the files of a commit as its input.
import { bundleLimits } from '#bundle/format/limits.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { fileBytesMax, unread } from '#compiler/read/source.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { readyForScripts } from '#compiler/scripts/script-syntax.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { GitDriver, ObjectError, TreeFile } from '#gitops/git/objects/driver.ts'
import type { HeadDiagnostic } from '#gitops/status/status.ts'

export interface CompilePort {
  /** True when the compiler remembers the blob, so that its bytes need not be read. */
  readonly has: (blobId: string) => boolean
  /** True when the content of the path matters to the compiler. */
  readonly isRead: (path: string) => boolean
  /** Takes files that were read before. */
  readonly learn?: (files: readonly ReadFile[]) => void
  readonly compile: (files: readonly SourceFile[], commit: string) => CompileOutcome
}

export type CompileOutcome = CompiledBundle | CompileFailure

export interface CompiledBundle {
  readonly ok: true
  /** Not signed yet. */
  readonly bytes: Uint8Array
  /** SHA-256, hex. */
  readonly digest: string
  /** Its names, worked out when asked for; without them no change is held for what it removes. */
  readonly outline?: () => NameOutline
  /** What it was made of. The compiler itself forgets it with the next compilation. */
  readonly read: readonly ReadAt[]
  /** Warnings and notes. */
  readonly diagnostics: readonly HeadDiagnostic[]
  readonly total: number
}

export interface ReadAt {
  readonly path: string
  readonly file: ReadFile
}

export interface CompileFailure {
  readonly ok: false
  readonly diagnostics: readonly HeadDiagnostic[]
  /** Errors, warnings and notes; may be more than are listed. */
  readonly total: number
  readonly errors: number
}

/**
 * Reads the files of commits; knows the sizes of the last commit's, so that cached ones are not
 * read again.
 */
export class SourceReader {
  readonly #driver: () => GitDriver
  readonly #compiler: CompilePort
  readonly #bytesMax: number
  #sizes = new Map<string, number>()

  /** @param bytesMax of all files; tests give another one, as to the compiler */
  constructor(
    driver: () => GitDriver,
    compiler: CompilePort,
    bytesMax: number = bundleLimits.configurationBytesMax,
  ) {
    this.#driver = driver
    this.#compiler = compiler
    this.#bytesMax = bytesMax
  }

  /** Files that need not be read, if they are still there. */
  learn(files: readonly ReadFile[]): void {
    this.#compiler.learn?.(files)
    for (const { blobId, text } of files) this.#sizes.set(blobId, Buffer.byteLength(text))
  }

  /** Nothing is known of the last commit any more. */
  forget(): void {
    this.#sizes = new Map()
  }

  /** The same, where other objects are there as well. */
  over(driver: GitDriver): SourceReader {
    const reader = new SourceReader(() => driver, this.#compiler, this.#bytesMax)
    reader.#sizes = this.#sizes
    return reader
  }

  /** What it gives is ready to be compiled. */
  async read(tree: string): Promise<Result<readonly SourceFile[], ObjectError>> {
    const listed = await this.#driver().readTree(tree)
    if (!listed.ok) return listed
    const files: SourceFile[] = []
    /** A few contents in a hundred thousand files cost no more than these few. */
    const loaded = new Map<string, SourceFile>()
    let leftBytes = this.#bytesMax
    // One after the other: sixteen at once took as long, the work is inflating, not waiting.
    for (const entry of listed.value) {
      const file = this.#remembered(entry) ?? (await this.#load(entry, leftBytes, loaded))
      if ('reason' in file) return err(file)
      if (file.sizeBytes <= fileBytesMax) leftBytes -= file.sizeBytes
      files.push(file)
    }
    // What is not read has no size here, and may have the octets of what is.
    const read = files.filter(({ kind, path }) => kind === 'file' && this.#compiler.isRead(path))
    this.#sizes = new Map(read.map((file) => [file.blobId, file.sizeBytes]))
    if (leftBytes < 0) return ok(unread(files))
    await readyForScripts(files)
    return ok(files)
  }

  /** Without a promise: ten thousand unchanged files cost one pass over an array. */
  #remembered({ path, oid: blobId, kind }: TreeFile): SourceFile | undefined {
    if (kind !== 'file' || !this.#compiler.isRead(path)) {
      return { path, blobId, kind, sizeBytes: 0, bytes: null }
    }
    const sizeBytes = this.#sizes.get(blobId)
    if (sizeBytes === undefined || !this.#compiler.has(blobId)) return undefined
    return { path, blobId, kind, sizeBytes, bytes: null }
  }

  async #load(
    entry: TreeFile,
    leftBytes: number,
    loaded: Map<string, SourceFile>,
  ): Promise<SourceFile | ObjectError> {
    const same = loaded.get(entry.oid)
    if (same !== undefined) return { ...same, path: entry.path }
    const file = await loadFile(this.#driver(), entry, leftBytes)
    if (!('reason' in file)) loaded.set(entry.oid, file)
    return file
  }
}

/** @param leftBytes octets that may still be read; of what has more, the size alone is found out */
export async function loadFile(
  driver: GitDriver,
  { path, oid: blobId, kind }: TreeFile,
  leftBytes: number,
): Promise<SourceFile | ObjectError> {
  const bytes = await driver.readBlob(blobId, Math.max(0, Math.min(fileBytesMax, leftBytes)))
  if (!bytes.ok) {
    const { sizeBytes, ...error } = bytes.error
    // The compiler refuses it by its size, with its path; or all files, by what they have together.
    if (sizeBytes !== undefined) return { path, blobId, kind, sizeBytes, bytes: null }
    return { ...error, reason: `${error.reason} It is the file ${path}.` }
  }
  return { path, blobId, kind, sizeBytes: bytes.value.length, bytes: bytes.value }
}
