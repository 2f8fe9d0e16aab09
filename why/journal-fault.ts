// Names files of a journal that cannot be read, which may hold what was looked for.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { readRecords, segmentHead } from '#journal/format/records.ts'
import { segmentFiles } from '#journal/segment-files.ts'

/** @returns a clause with the path; null: all can be read, or there is no directory */
export function journalFault(directory: string): string | null {
  try {
    readdirSync(directory)
    const damaged = segmentFiles(directory).flatMap(({ path }) => {
      const octets = beginningOf(path)
      const [first] = readRecords(octets).records
      if (first !== undefined && segmentHead(first) !== undefined) return []
      return [`${path} is ${octets.length === 0 ? 'empty' : 'damaged at its beginning'}`]
    })
    const [one] = damaged
    if (one === undefined) return null
    return damaged.length === 1 ? one : `${one}, and so are ${damaged.length - 1} more`
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    const does = code === 'EACCES' ? 'this user may not read it; be the user of the node' : message
    return `${path ?? directory}: ${does}`
  }
}

/** More than the first record of a segment. */
const beginningBytes = 65_536

/** @throws the file system's error, with the path */
function beginningOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const octets = Buffer.alloc(beginningBytes)
    return octets.subarray(0, readSync(file, octets, 0, beginningBytes, 0))
  } finally {
    closeSync(file)
  }
}
