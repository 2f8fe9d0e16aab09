// Reads one loose object from disk, after a check of the size in its header.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { constants, inflateSync } from 'node:zlib'
import { Oversized } from './oversized.ts'
import { readAt } from './read-at.ts'
import type { StoredObject } from './pack-set.ts'

/** Octets of the first read: enough for the header of any object, and for most whole objects. */
const firstBytes = 4_096
/** The most octets that zlib can inflate from the first read: at best 1 to 1032. */
const inflatedBytesMax = firstBytes * 1_032
const headerBytesMax = 32

/**
 * The content is not checked against the id.
 *
 * @returns undefined when there is no such file
 * @throws Oversized, the file system's error, or what is wrong with the object
 */
export function readLooseObject(path: string, bytesMax: number): StoredObject | undefined {
  let fd
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const first = readAt(fd, 0, firstBytes)
    if (first.length < firstBytes) return objectOf(inflateAll(first, inflatedBytesMax), bytesMax)
    const start = inflateSync(first, { finishFlush: constants.Z_SYNC_FLUSH })
    const { end, sizeBytes } = headerOf(start)
    if (sizeBytes > bytesMax) throw new Oversized(sizeBytes)
    const rest = readAt(fd, firstBytes, deflatedMax(sizeBytes, fstatSync(fd).size) - firstBytes)
    const wholeBytes = end + 1 + sizeBytes
    return objectOf(inflateAll(Buffer.concat([first, rest]), wholeBytes), bytesMax)
  } finally {
    closeSync(fd)
  }
}

/** The most octets that an object of this size compresses to: a longer file is not read whole. */
function deflatedMax(sizeBytes: number, fileBytes: number): number {
  return Math.max(firstBytes, Math.min(fileBytes, sizeBytes + (sizeBytes >> 8) + 1_024))
}

function inflateAll(bytes: Buffer, maxOutputLength: number): Buffer {
  if (bytes.length === 0) throw new Error('its file is empty')
  return inflateSync(bytes, { maxOutputLength })
}

function objectOf(whole: Buffer, bytesMax: number): StoredObject {
  const { type, end, sizeBytes } = headerOf(whole)
  if (sizeBytes > bytesMax) throw new Oversized(sizeBytes)
  const content = whole.subarray(end + 1)
  if (sizeBytes !== content.length) throw new Error('it is no loose object')
  // zlib returns at least 16 KiB of memory, even for a small file: a copy lets that go.
  return { type, content: content.length < 4_096 ? Buffer.from(content) : content }
}

function headerOf(start: Buffer): { type: StoredObject['type']; end: number; sizeBytes: number } {
  const end = start.subarray(0, headerBytesMax).indexOf(0)
  const header = /^(commit|tree|blob|tag) (\d+)$/.exec(start.toString('latin1', 0, end))
  if (end === -1 || header === null) throw new Error('it is no loose object')
  return { type: header[1] as StoredObject['type'], end, sizeBytes: Number(header[2]) }
}
