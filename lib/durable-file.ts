// Writes files atomically and durably: after a crash a file has its old octets or its new ones.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Writes `bytes` beside `path`, flushes them, renames over `path`, flushes the directory.
 *
 * @throws the file system's error (ENOSPC, EROFS, EACCES); `path` is then as it was, or, when the
 *   directory could not be flushed, new until a power cut
 */
export function writeDurably(path: string, bytes: Uint8Array | string, mode = 0o644): void {
  const directory = dirname(path)
  mkdirSync(directory, { recursive: true })
  const temporary = temporaryOf(path)
  try {
    const fd = openSync(temporary, 'wx', mode)
    try {
      const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
      let written = 0
      while (written < data.length) written += writeSync(fd, data, written, data.length - written)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  flushDirectory(directory)
}

/**
 * Gives `path` the octets of `from`, which are on disk and are never changed in place.
 *
 * @param from in the folder of `path`, which the caller flushes
 * @returns false: nothing was done, since the file system makes no link
 */
export function linkOver(from: string, path: string): boolean {
  const temporary = temporaryOf(path)
  try {
    linkSync(from, temporary)
    renameSync(temporary, path)
    return true
  } catch {
    return false
  } finally {
    // A rename between two names of one file leaves both.
    rmSync(temporary, { force: true })
  }
}

/** As `writeDurably`, for a text in parts; the event loop runs meanwhile. */
export function writePartsDurably(
  path: string,
  parts: Iterable<string> | AsyncIterable<string>,
  { mode, isWanted }: { readonly mode: number; readonly isWanted: () => boolean },
): Promise<void> {
  const write = async (temporary: string): Promise<void> => {
    const file = await open(temporary, 'wx', mode)
    try {
      for await (const part of parts) await file.appendFile(part)
    } finally {
      await file.close()
    }
  }
  return makeDurably(path, write, isWanted)
}

/**
 * As `writeDurably`, for a file that something else makes.
 *
 * @param make makes the file under the given name, in the folder of `path`
 * @param isWanted called before the rename: false leaves the old file
 * @throws what `make` throws; `path` is then unchanged, with nothing beside it
 */
export async function makeDurably(
  path: string,
  make: (temporary: string) => Promise<void>,
  isWanted: () => boolean = () => true,
): Promise<void> {
  const directory = dirname(path)
  mkdirSync(directory, { recursive: true })
  const temporary = temporaryOf(path)
  try {
    await make(temporary)
    await flush(temporary)
    if (!isWanted()) return
    // Synchronous, so that no other writer comes between the question and the rename.
    renameSync(temporary, path)
    await flush(directory)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function flush(path: string): Promise<void> {
  const opened = await open(path, 'r')
  await opened.sync().finally(() => opened.close())
}

// Random, since a restarted container has the same process id, and threads share one.
function temporaryOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`
}

/** Makes a rename or a removal in `directory` survive a power cut. */
export function flushDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Removes what interrupted writes have left in `directory`; for the start of a process. */
export function sweepTemporary(directory: string): void {
  if (!existsSync(directory)) return
  for (const file of readdirSync(directory)) {
    if (/\.[0-9a-f]{12}\.tmp$/.test(file)) rmSync(join(directory, file), { force: true })
  }
}
