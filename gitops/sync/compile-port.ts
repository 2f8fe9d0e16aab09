// Defines the port to the compiler, and reads the files of a commit as its input.
import { bundleLimits } from '#bundle/format/limits.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { isRead } from '#compiler/read/layout.ts'
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
  /** Takes files that were read before. */
  readonly learn?: (files: readonly ReadFile[]) => void
  readonly compile: (files: readonly SourceFile[], commit: string) => CompileOutcome
}

type CompileOutcome = CompiledBundle | CompileFailure

export interface CompiledBundle {
  readonly ok: true
  /** The unsigned bundle. */
  readonly bytes: Uint8Array
  /** SHA-256 of the bundle in hex. */
  readonly digest: string
  /**
   * The names of the bundle, computed on demand. Without them no change is held for removed names.
   */
  readonly outline?: () => NameOutline
  /** The files that it was compiled from. The compiler forgets them at the next compilation. */
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
  /** Number of errors, warnings and notes; not all may be listed. */
  readonly total: number
  readonly errors: number
}

/**
 * Reads the files of commits. It remembers the sizes of the last commit's files, so that files
 * which the compiler caches are not read again.
 */
export class SourceReader {
  readonly #driver: () => GitDriver
  readonly #compiler: CompilePort
  readonly #bytesMax: number
  #sizes = new Map<string, number>()

  /** @param bytesMax of all files together; tests pass a smaller one to this and to the compiler */
  constructor(
    driver: () => GitDriver,
    compiler: CompilePort,
    bytesMax: number = bundleLimits.configurationBytesMax,
  ) {
    this.#driver = driver
    this.#compiler = compiler
    this.#bytesMax = bytesMax
  }

  /** Adds files that need not be read again while they exist. */
  learn(files: readonly ReadFile[]): void {
    this.#compiler.learn?.(files)
    for (const { blobId, text } of files) this.#sizes.set(blobId, Buffer.byteLength(text))
  }

  /** Forgets the last commit. */
  forget(): void {
    this.#sizes = new Map()
  }

  /** The same reader on a driver that has further objects. */
  over(driver: GitDriver): SourceReader {
    const reader = new SourceReader(() => driver, this.#compiler, this.#bytesMax)
    reader.#sizes = this.#sizes
    return reader
  }

  /** Reads a tree; the result is ready to be compiled. */
  async read(tree: string): Promise<Result<readonly SourceFile[], ObjectError>> {
    const driver = this.#driver()
    const listed = await driver.readTree(tree)
    if (!listed.ok) return listed
    const files = await readFiles(driver, listed.value, this.#bytesMax, this.#sizeOfKnown)
    if (!files.ok) return files
    // Files that are not read have no size here, and may share a blob with a file that is read.
    const read = files.value.filter(({ kind, path }) => kind === 'file' && isRead(path))
    this.#sizes = new Map(read.map((file) => [file.blobId, file.sizeBytes]))
    return files
  }

  readonly #sizeOfKnown = (blobId: string): number | undefined => {
    const sizeBytes = this.#sizes.get(blobId)
    return sizeBytes !== undefined && this.#compiler.has(blobId) ? sizeBytes : undefined
  }
}

/**
 * Reads the files of a commit that the compiler reads, and lists the others.
 *
 * @param bytesMax of all files together
 * @param sizeOfKnown the size of a file that need not be read; undefined: it has to be
 */
export async function readFiles(
  driver: GitDriver,
  entries: readonly TreeFile[],
  bytesMax: number,
  sizeOfKnown: (blobId: string) => number | undefined = () => undefined,
): Promise<Result<readonly SourceFile[], ObjectError>> {
  const files: SourceFile[] = []
  /** Files with content are in a map of their own: they are few among a hundred thousand. */
  const loaded = new Map<string, SourceFile>()
  let leftBytes = bytesMax
  // Read one by one: sixteen at once took as long, since the time is inflating, not waiting. Known
  // files are not waited for: ten thousand cost one pass over an array.
  for (const entry of entries) {
    const { path, oid: blobId, kind } = entry
    const knownBytes = kind === 'file' && isRead(path) ? sizeOfKnown(blobId) : 0
    let file: SourceFile | ObjectError | undefined = loaded.get(blobId)
    if (knownBytes !== undefined) file = { path, blobId, kind, sizeBytes: knownBytes, bytes: null }
    else if (file !== undefined) file = { ...file, path }
    else {
      file = await loadFile(driver, entry, leftBytes)
      if ('reason' in file) return err(file)
      loaded.set(blobId, file)
    }
    if (file.sizeBytes <= fileBytesMax) leftBytes -= file.sizeBytes
    files.push(file)
  }
  if (leftBytes < 0) return ok(unread(files))
  await readyForScripts(files)
  return ok(files)
}

/** @param leftBytes octets that may still be read; of a larger file only the size is found out */
async function loadFile(
  driver: GitDriver,
  { path, oid: blobId, kind }: TreeFile,
  leftBytes: number,
): Promise<SourceFile | ObjectError> {
  const bytes = await driver.readBlob(blobId, Math.max(0, Math.min(fileBytesMax, leftBytes)))
  if (!bytes.ok) {
    const { sizeBytes, ...error } = bytes.error
    // The compiler refuses the file by its size, or all files by their sum.
    if (sizeBytes !== undefined) return { path, blobId, kind, sizeBytes, bytes: null }
    return { ...error, reason: `${error.reason} It is the file ${path}.` }
  }
  return { path, blobId, kind, sizeBytes: bytes.value.length, bytes: bytes.value }
}
