// Many Git objects onto the disk at once: whole files, flushed, before anyone may refer to them.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { StagedObject, StagedObjects } from './driver.ts'

/** Off the thread: a folder of ten thousand files takes as long as the flushes beside it. */
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

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
  // Whoever awaits it hears of a fault; often nobody does, since the commit does not compile.
  ahead.catch(() => undefined)
  return ahead
}

function deflateObject(type: StagedObject['type'], content: Uint8Array): Promise<Buffer> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  if (content.length <= bigBytes) return deflated(whole, { level: 6 })
  // One piece: after each, zlib waits for this thread, which may be busy.
  return deflated(whole, { level: 1, chunkSize: whole.length + 1024 })
}

/** @throws the file system's error; what was written by then is only not referred to. */
export async function writeLooseObjects(gitdir: string, objects: StagedObjects): Promise<void> {
  const folders = new Set<string>()
  const missing = Array.from(objects, ([oid, object]) => ({
    ...object,
    path: join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2)),
  })).filter(({ path }) => !existsSync(path))
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
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function write(path: string, { type, content, ...object }: StagedObject): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  // `git gc` removes what is left of such files after a crash.
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(temporary, 'wx', 0o444)
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
