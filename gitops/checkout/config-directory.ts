// Reads a configuration directory as compiler input, with the blob ids that Git would give.
import { hash } from 'node:crypto'
import { closeSync, lstatSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { bundleLimits } from '#bundle/format/limits.ts'
import { hidesConfiguration, isRead } from '#compiler/read/layout.ts'
import { fileBytesMax, unread } from '#compiler/read/source.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { readyForScripts } from '#compiler/scripts/script-syntax.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Tell } from '#lib/log.ts'
import { gitLimits } from '#gitops/limits.ts'

/** Limits of a read; tests pass smaller ones. */
export interface DirectoryLimits {
  readonly filesMax: number
  readonly bytesMax: number
}

const usualLimits: DirectoryLimits = {
  filesMax: gitLimits.directoryFilesMax,
  bytesMax: bundleLimits.configurationBytesMax,
}
/** Progress is reported after each 256 files: fewer are read before anybody wonders. */
const progressEachFiles = 256
/**
 * How many entries are searched for a configuration elsewhere, to say in the error where it may be.
 */
const strayEntriesMax = 10_000

/**
 * Reads a directory as `readConfigDirectory` does, and compiles the files ahead where it can.
 *
 * @param isKnown asked of each file: a file that the compiler knows already is not compiled
 */
export async function readConfiguration(
  root: string,
  tell?: Tell,
  isKnown: (files: readonly SourceFile[]) => boolean = () => false,
): Promise<Result<readonly SourceFile[], string>> {
  const read = readConfigDirectory(root, tell)
  if (read.ok && !isKnown(read.value)) await readyForScripts(read.value)
  return read
}

/**
 * Reads the files that the compiler needs. Lists the others, and what exceeds a limit: the compiler
 * refuses that by its size. Errors: a sentence that names the path.
 */
export function readConfigDirectory(
  root: string,
  tell?: Tell,
  limits = usualLimits,
): Result<readonly SourceFile[], string> {
  const fault = folderFault(root)
  if (fault !== undefined) return err(fault)
  return hasConfiguration(root) ? readTree(root, limits, tell) : ok(listStray(root))
}

/** Says why a path cannot be read as a directory, in a sentence; undefined: it can. */
export function folderFault(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return undefined
    return `${path} is a file; give the directory that holds gslb.yaml and tenants/`
  } catch (error) {
    return failure(path, error)
  }
}

/** Whether a directory looks like the top of a configuration. Its content may still be wrong. */
export function hasConfiguration(root: string): boolean {
  return ['gslb.yaml', 'tenants'].some(
    (name) => lstatSync(join(root, name), { throwIfNoEntry: false }) !== undefined,
  )
}

interface Found {
  readonly path: string
  readonly absolute: string
  readonly entry: Dirent
}

/** Yields files, links and other entries that are no directory. Git's own folder is left out. */
function* walk(root: string, onUnreadable: (folder: string, error: unknown) => void) {
  // The root, with exactly one `/` at its end.
  const top = join(root, '/')
  // Folders are walked level by level, so that what is near the top comes first.
  const folders = ['']
  for (const folder of folders) {
    let entries: Dirent[]
    try {
      entries = readdirSync(join(root, folder), { withFileTypes: true })
    } catch (error) {
      onUnreadable(join(root, folder), error)
      continue
    }
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (!entry.isDirectory()) yield { path, absolute: top + path, entry } satisfies Found
      else if (entry.name !== '.git') folders.push(path)
    }
  }
}

function readTree(
  root: string,
  { filesMax, bytesMax }: DirectoryLimits,
  tell?: Tell,
): Result<readonly SourceFile[], string> {
  const files: SourceFile[] = []
  const space = new FileSpace()
  let leftBytes = bytesMax
  let where = root
  try {
    const found = walk(root, (folder, error) => {
      where = folder
      throw error
    })
    for (const one of found) {
      const { path, absolute, entry } = one
      where = absolute
      if (files.length % progressEachFiles === progressEachFiles - 1)
        tell?.(`reading ${root}: file`, files.length + 1)
      if (files.length === filesMax)
        return err(
          `${root} has more than ${filesMax} files; give a directory of configuration only`,
        )
      if (entry.isFile() || entry.isSymbolicLink()) {
        const file = sourceFile(one, space, leftBytes)
        if (file.sizeBytes <= fileBytesMax && isRead(path)) leftBytes -= file.sizeBytes
        files.push(file)
      }
      // A folder that cannot be read matters where configuration belongs; elsewhere Git ignores it,
      // too.
      else if (isRead(path) || hidesConfiguration(path))
        return err(`${absolute} is ${kindOf(entry)}, not a file; remove it`)
    }
    return ok(leftBytes < 0 ? unread(files) : files)
  } catch (error) {
    return err(failure(where, error))
  }
}

/**
 * Lists names alone: the compiler says that there is no configuration, and where some seems to be.
 */
function listStray(root: string): readonly SourceFile[] {
  const files: SourceFile[] = []
  let entries = 0
  for (const { path, entry } of walk(root, () => undefined)) {
    if (++entries > strayEntriesMax) break
    const isListed = entry.isFile() && !isRead(path)
    if (isListed) files.push({ path, blobId: '', kind: 'file', sizeBytes: 0, bytes: null })
  }
  return files
}

function kindOf(entry: Dirent): string {
  if (entry.isFIFO()) return 'a named pipe'
  return entry.isSocket() ? 'a socket' : 'a device'
}

/** @param leftBytes octets that may still be read */
function sourceFile(
  { path, absolute, entry }: Found,
  space: FileSpace,
  leftBytes: number,
): SourceFile {
  if (entry.isSymbolicLink())
    return { path, blobId: '', kind: 'symlink', sizeBytes: 0, bytes: null }
  const bytes = isRead(path) ? space.read(absolute, Math.min(fileBytesMax, leftBytes)) : null
  if (bytes !== null) return new FileInDirectory(path, bytes)
  return { path, blobId: '', kind: 'file', sizeBytes: lstatSync(absolute).size, bytes }
}

/** How much memory is allocated at once: a buffer for each file would be many small pieces. */
const spaceBytes = 8 * fileBytesMax

/** The memory that small files are read into, one behind the other. */
class FileSpace {
  #octets = new Uint8Array(0)
  #at = 0

  /** @returns null when the file has more than `bytesMax`, at most `fileBytesMax` */
  read(path: string, bytesMax: number): Uint8Array | null {
    if (this.#octets.length - this.#at <= fileBytesMax) {
      this.#octets = new Uint8Array(spaceBytes)
      this.#at = 0
    }
    const fd = openSync(path, 'r')
    try {
      let end = this.#at
      const endMax = end + Math.max(0, bytesMax)
      for (let count = -1; count !== 0 && end <= endMax; end += count) {
        count = readSync(fd, this.#octets, end, endMax + 1 - end, null)
      }
      if (end > endMax) return null
      const bytes = this.#octets.subarray(this.#at, end)
      this.#at = end
      return bytes
    } finally {
      closeSync(fd)
    }
  }
}

/** A file of a directory; its blob id is worked out when it is asked for. */
class FileInDirectory implements SourceFile {
  readonly path: string
  readonly kind = 'file'
  readonly sizeBytes: number
  readonly bytes: Uint8Array
  #blobId = ''

  constructor(path: string, bytes: Uint8Array) {
    this.path = path
    this.bytes = bytes
    this.sizeBytes = bytes.length
  }

  get blobId(): string {
    this.#blobId ||= gitBlobId(this.bytes)
    return this.#blobId
  }
}

function gitBlobId(bytes: Uint8Array): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]))
}

function failure(path: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT') return `${path} does not exist`
  if (code === 'EACCES' || code === 'EPERM') return `${path} cannot be read: permission denied`
  return `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`
}
