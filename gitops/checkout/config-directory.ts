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

/** What tests replace. */
export interface DirectoryLimits {
  readonly filesMax: number
  readonly bytesMax: number
}

const usualLimits: DirectoryLimits = {
  filesMax: gitLimits.directoryFilesMax,
  bytesMax: bundleLimits.configurationBytesMax,
}
/** Few files are read before anybody wonders. */
const progressEachFiles = 256
/** Looked at where there is no configuration, to say where it may be. */
const strayEntriesMax = 10_000

/**
 * As `readConfigDirectory`; what it gives is ready to be compiled.
 *
 * @param isKnown asked of the files: what is known of them already is not compiled
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
 * Reads what the compiler reads; lists the rest, and what is too much: that the compiler refuses by
 * its size. Errors: a sentence that names the path.
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

/** Why a path is no directory to read from, as a sentence; undefined: it is one. */
export function folderFault(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return undefined
    return `${path} is a file; give the directory that holds gslb.yaml and tenants/`
  } catch (error) {
    return failure(path, error)
  }
}

/** Whether a directory looks like the top of a configuration; its content may still be wrong. */
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

/** Files, links and what else is not a directory; Git's own folder is left out. */
function* walk(root: string, onUnreadable: (folder: string, error: unknown) => void) {
  // With one `/` at its end.
  const top = join(root, '/')
  // Level by level: what is near the top comes first.
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
      // Git does not see one either; where configuration belongs, somebody expects it to count.
      else if (isRead(path) || hidesConfiguration(path))
        return err(`${absolute} is ${kindOf(entry)}, not a file; remove it`)
    }
    return ok(leftBytes < 0 ? unread(files) : files)
  } catch (error) {
    return err(failure(where, error))
  }
}

/** Names alone: the compiler says that there is no configuration, and where some seems to be. */
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

/** Fewer and larger pieces of memory than one for each file. */
const spaceBytes = 8 * fileBytesMax

/** What small files are read into, one behind the other. */
class FileSpace {
  #octets = new Uint8Array(0)
  #at = 0

  /** null: it has more than `bytesMax`, at most `fileBytesMax`. */
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

/** Git's id of it is worked out when it is asked for. */
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
