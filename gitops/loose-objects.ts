// Many Git objects onto the disk at once: whole files, flushed, before anyone may refer to them.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { StagedObjects } from './driver.ts'

/** Off the thread: a folder of ten thousand files takes as long as the flushes beside it. */
const deflated = promisify(deflate) as (bytes: Uint8Array, options: object) => Promise<Buffer>

/** Flushes wait for the disk, which takes several at once. */
const atOnce = 16
/** Ids do not compress, and a big folder is little else. */
const bigBytes = 32 * 1024

/** @throws the file system's error; what was written by then is only not referred to. */
export async function writeLooseObjects(gitdir: string, objects: StagedObjects): Promise<void> {
  const folders = new Set<string>()
  const missing = Array.from(objects, ([oid, object]) => ({
    ...object,
    path: join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2)),
  })).filter(({ path }) => !existsSync(path))
  for (let at = 0; at < missing.length; at += atOnce) {
    const group = missing.slice(at, at + atOnce)
    await Promise.all(group.map(({ path, type, content }) => write(path, type, content)))
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

async function write(path: string, type: string, content: Uint8Array): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  // `git gc` removes what is left of such files after a crash.
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`)
  const head = Buffer.from(`${type} ${content.length}\0`)
  const level = content.length > bigBytes ? 1 : 6
  try {
    const file = await open(temporary, 'wx', 0o444)
    try {
      await file.writeFile(await deflated(Buffer.concat([head, content]), { level }))
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
