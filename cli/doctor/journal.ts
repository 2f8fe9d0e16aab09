// Checks whether the journal, from which answers are explained, exists and is being written.
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { journalDirectory } from '#journal/journal-directory.ts'
import { readRecords } from '#journal/format/records.ts'
import { segmentFiles } from '#journal/segment-files.ts'
import { systemClock } from '#lib/clock.ts'
import { good, unknown, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

export const journal: Check = {
  name: 'journal',
  async look({ settings }) {
    if (!settings.roles.includes('dns')) return [unknown('this node answers no DNS: it has none')]
    if (!settings.journal.enabled) {
      return [unknown('journal.enabled is false: answers cannot be explained later')]
    }
    const files = segmentFiles(journalDirectory(settings.dataDir))
    const newest = files.at(-1)
    if (newest === undefined) return [unknown('there is none yet: the node has not answered')]
    return [lookAt(newest.path, files.map(sizeOf))]
  },
}

/** A file that was written a moment ago may have a write under way. */
const quietMs = 5_000

const sizeOf = ({ path }: { readonly path: string }): number =>
  statSync(path, { throwIfNoEntry: false })?.size ?? 0

function lookAt(path: string, sizes: readonly number[]): Finding {
  const mebibytes = (sizes.reduce((sum, size) => sum + size, 0) / 1_048_576).toFixed(1)
  try {
    closeSync(openSync(path, 'a'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const todo = 'let the user of the node own the directory journal of its data directory'
    return warning(`the journal cannot be written by this user: ${code ?? ''}`, todo)
  }
  const isQuiet = systemClock.nowMs() - statSync(path).mtimeMs > quietMs
  const { records, lostBytes } = readRecords(readFileSync(path))
  const last = records.at(-1)
  if (isQuiet && (last === undefined || lostBytes > 0)) {
    const found = `the newest part of the journal ends within a record (${lostBytes} octets)`
    return warning(found, 'see the log: the disk was full, or the machine stopped; it goes on')
  }
  const at = last === undefined ? 'now' : new Date(last.wallMs).toISOString()
  return good(`${mebibytes} MiB, the last record of ${at}`)
}
