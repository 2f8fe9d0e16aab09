// Writes many loose objects to disk and flushes them, before anything refers to them.
import { randomBytes } from 'node:crypto'
import { existsSync, utimesSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { systemClock } from '#lib/clock.ts'
import type { StagedObject, StagedObjects } from './driver.ts'

/** Compresses in another thread: a folder of ten thousand files takes as long as the flushes. */
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

/** How often a folder is made again: git may remove an empty folder just after it was made. */
const folderTriesMax = 8
/** How many flushes run at the same time: the disk takes several at once. */
const atOnce = 16
/** Up to this size the way to another thread costs ten times what is done there. */
const smallBytes = 4 * 1024
/** Folders above this size are compressed ahead. Their ids hardly compress. */
const bigBytes = 32 * 1024

/**
 * Begins to compress a big object, the slowest part of its write, while its commit is compiled.
 *
 * @returns undefined when it is small
 */
export function deflateAhead(
  type: StagedObject['type'],
  content: Uint8Array,
): Promise<Uint8Array> | undefined {
  if (content.length <= bigBytes) return undefined
  const ahead = deflateObject(type, content)
  // A caller that awaits the promise gets the error. Often nobody does, since the commit does not
  // compile.
  ahead.catch(() => undefined)
  return ahead
}

async function deflateObject(type: StagedObject['type'], content: Uint8Array): Promise<Buffer> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  if (whole.length <= smallBytes) return deflateSync(whole, { level: 6, chunkSize: smallBytes })
  if (content.length <= bigBytes) return deflated(whole, { level: 6 })
  // The output is one chunk: zlib waits for this thread after each, and the thread may be busy.
  return deflated(whole, { level: 1, chunkSize: whole.length + 1024 })
}

/**
 * Whether an object is there and will stay: its time is set to now, because `git gc` removes
 * objects without a ref after two weeks, and does not know that a new commit will refer to this
 * one.
 */
export function isThere(path: string): boolean {
  const seconds = systemClock.nowMs() / 1000
  try {
    utimesSync(path, seconds, seconds)
    return true
  } catch {
    // The file belongs to another user (then it exists), or is absent.
    return existsSync(path)
  }
}

/** @throws the file system's error; objects written by then stay, and nothing refers to them */
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
  // The folder of the folders is flushed as well, since some may be new.
  if (folders.size > 0) folders.add(join(gitdir, 'objects'))
  const waiting = [...folders]
  for (let at = 0; at < waiting.length; at += atOnce) {
    await Promise.all(waiting.slice(at, at + atOnce).map(flush))
  }
}

/** Flushes a folder, so that renames in it survive a power cut. */
async function flush(folder: string): Promise<void> {
  let directory
  try {
    directory = await open(folder, 'r')
  } catch (error) {
    // Git has packed all objects of the folder, and has flushed the pack.
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
  // The name that git uses: `git gc` removes such files after a crash.
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

/**
 * Opens a new file, and makes its folder as often as needed: git removes a folder when its last
 * object was packed.
 */
async function openNew(path: string): Promise<FileHandle> {
  for (let tries = 0; ; tries++) {
    try {
      return await open(path, 'wx', 0o444)
    } catch (error) {
      if (!isAbsent(error) || tries === folderTriesMax) throw error
    }
    await mkdir(dirname(path), { recursive: true })
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
