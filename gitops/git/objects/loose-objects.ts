// Writes many loose objects to disk and flushes them, before anything refers to them.
import { randomBytes } from 'node:crypto'
import { existsSync, utimesSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { systemClock } from '#lib/clock.ts'
import type { StagedObject, StagedObjects } from './driver.ts'

/** Off the thread: a folder of ten thousand files takes as long as the flushes beside it. */
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

/** Each needs git to remove an empty folder in the moment after it was made. */
const folderTriesMax = 8
/** Flushes wait for the disk, which takes several at once. */
const atOnce = 16
/** Ids do not compress, and a big folder is little else. */
const bigBytes = 32 * 1024

/**
 * Begins what takes longest of writing a big object; its commit is compiled meanwhile.
 *
 * @returns undefined when it is small
 */
export function deflateAhead(
  type: StagedObject['type'],
  content: Uint8Array,
): Promise<Uint8Array> | undefined {
  if (content.length <= bigBytes) return undefined
  const ahead = deflateObject(type, content)
  // A caller that awaits it gets the error. Often nobody does, since the commit does not compile.
  ahead.catch(() => undefined)
  return ahead
}

function deflateObject(type: StagedObject['type'], content: Uint8Array): Promise<Buffer> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  if (content.length <= bigBytes) return deflated(whole, { level: 6 })
  // In one chunk: after each, zlib waits for this thread, which may be busy.
  return deflated(whole, { level: 1, chunkSize: whole.length + 1024 })
}

/**
 * Whether an object is there, and will be: a `git gc` removes what no ref reaches when it is two
 * weeks old, and does not know that it is about to be referred to again.
 */
export function isThere(path: string): boolean {
  const seconds = systemClock.nowMs() / 1000
  try {
    utimesSync(path, seconds, seconds)
    return true
  } catch {
    // The file belongs to another user, or is not there.
    return existsSync(path)
  }
}

/** @throws the file system's error; what was written by then is only not referred to. */
export async function writeLooseObjects(gitdir: string, objects: StagedObjects): Promise<void> {
  const folders = new Set<string>()
  const missing = Array.from(objects, ([oid, object]) => ({
    ...object,
    path: join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2)),
  })).filter(({ path }) => !isThere(path))
  for (let at = 0; at < missing.length; at += atOnce) {
    const group = missing.slice(at, at + atOnce)
    await Promise.all(group.map(({ path, ...object }) => write(path, object)))
    for (const { path } of group) folders.add(dirname(path))
  }
  // The folders themselves may be new.
  if (folders.size > 0) folders.add(join(gitdir, 'objects'))
  const waiting = [...folders]
  for (let at = 0; at < waiting.length; at += atOnce) {
    await Promise.all(waiting.slice(at, at + atOnce).map(flush))
  }
}

/** Makes the renames in a folder survive a power cut. */
async function flush(folder: string): Promise<void> {
  let directory
  try {
    directory = await open(folder, 'r')
  } catch (error) {
    // Git has packed all that was in it, and flushed the pack.
    if (isAbsent(error)) return
    throw error
  }
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function write(path: string, { type, content, ...object }: StagedObject): Promise<void> {
  const folder = dirname(path)
  // `git gc` removes what is left of such files after a crash.
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`)
  try {
    const file = await openNew(temporary)
    try {
      await file.writeFile(await (object.deflated ?? deflateObject(type, content)))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Git removes a folder when the last object in it was packed, also before we are in it. */
async function openNew(path: string): Promise<FileHandle> {
  for (let tries = 0; ; tries++) {
    try {
      await mkdir(dirname(path), { recursive: true })
      return await open(path, 'wx', 0o444)
    } catch (error) {
      if (!isAbsent(error) || tries === folderTriesMax) throw error
    }
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
