// Replays the queries of a log file one after the other, and reports answers that differ.
import type { ReadRecord } from '#answer/query-log/dnstap-reader.ts'
import { readQueryLog } from './read-file.ts'
import type { Replay } from './replay.ts'
import { ReplayReport } from './replay-report.ts'

interface ReplayWanted {
  readonly file: string
  /** Only queries for this name, with or without its final dot. */
  readonly name?: string | undefined
  /** Only the record with this number in the file, from 1. */
  readonly number?: number | undefined
  readonly isJson: boolean
}

interface Writers {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
}

/** @returns true: there were records, each was read, and each replay gave the same answer */
export async function replayFile(
  replay: Replay,
  wanted: ReplayWanted,
  { out, err }: Writers,
): Promise<boolean> {
  const report = new ReplayReport(wanted.isJson)
  let isRead = true
  let number = 0
  for (const record of readQueryLog(wanted.file)) {
    if (!record.ok) {
      err(`gslbd why: ${record.error}\n`)
      isRead = false
      continue
    }
    number++
    if (!isWanted(record.value, number, wanted)) continue
    const lines = report.add(number, record.value, await replay.one(record.value))
    if (lines !== '') out(lines)
    if (number === wanted.number) break
  }
  await replay.close()
  out(report.summary())
  if (isRead && report.records === 0) err(`gslbd why: ${wanted.file} has no such record\n`)
  return isRead && report.isAllSame
}

function isWanted(record: ReadRecord, number: number, wanted: ReplayWanted): boolean {
  if (wanted.number !== undefined && wanted.number !== number) return false
  return wanted.name === undefined || plainName(record.name ?? '') === plainName(wanted.name)
}

const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '')
