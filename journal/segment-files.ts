// Manages the files of a journal: numbered segments in one directory, of which the oldest are
// removed first.
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { journalLimits } from '#journal/format/limits.ts'
import { firstBytes, firstWallMs } from '#journal/format/records.ts'

export interface SegmentFile {
  readonly path: string
  readonly number: number
}

/** The part of an open file that the journal uses. */
export interface SegmentHandle {
  /** Rejects with the file system's error. */
  readonly append: (octets: Uint8Array) => Promise<void>
  readonly close: () => Promise<void>
}

export type OpenSegment = (path: string) => Promise<SegmentHandle>

/** Never opens an existing file, to which another process may still write. */
export const openSegment: OpenSegment = async (path) => {
  const file = await open(path, 'ax', 0o640)
  return {
    append: (octets) => file.appendFile(octets),
    close: () => file.close(),
  }
}

const fileName = /^(\d{8,15})\.journal$/

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(8, '0')}.journal`)
}

/** In order; none without the directory. */
export function segmentFiles(directory: string): readonly SegmentFile[] {
  return namesIn(directory)
    .flatMap((name) => {
      const digits = fileName.exec(name)?.[1]
      return digits === undefined ? [] : [{ path: join(directory, name), number: Number(digits) }]
    })
    .sort((a, b) => a.number - b.number)
}

/** Regular files only: other things with such a name were not written by a journal. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  } catch {
    return []
  }
}

/** @throws the file system's error */
export function makeDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o750 })
}

/**
 * Removes segments that are too many or too old; the newest stays.
 *
 * @returns octets that are left
 */
export function pruneSegments(
  directory: string,
  { bytesMax, ageMaxMs }: { readonly bytesMax: number; readonly ageMaxMs: number },
  nowMs: number,
): number {
  const files = segmentFiles(directory).flatMap(({ path }) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined ? [] : [{ path, bytes: found.size }]
  })
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  let aged = 0
  for (const [i, file] of files.slice(0, -1).entries()) {
    const isOld =
      aged < journalLimits.agedPerRotation && nowMs - endMs(files.slice(i + 1)) > ageMaxMs
    if (!isOld && bytes <= bytesMax) break
    if (isOld) aged++
    rmSync(file.path, { force: true })
    bytes -= file.bytes
  }
  return bytes
}

/** When the segment before these ended: where the first readable one of these began. */
function endMs(following: readonly { readonly path: string }[]): number {
  for (const { path } of following) {
    const ms = beginMs(path)
    if (ms !== Infinity) return ms
  }
  return Infinity
}

/** Removes an empty segment; one that cannot be removed stays. */
export function removeSegment(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The journal reports other faults of the disk.
  }
}

/** By the clock of the writing process; Infinity: unknown. */
function beginMs(path: string): number {
  const file = openSync(path, 'r')
  try {
    return firstWallMs(octetsOf(file, firstBytes)) ?? Infinity
  } finally {
    closeSync(file)
  }
}

function octetsOf(file: number, count: number): Buffer {
  const octets = Buffer.alloc(count)
  return octets.subarray(0, readSync(file, octets, 0, count, 0))
}
