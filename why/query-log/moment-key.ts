// Tells whether two moments of a journal answer alike, without building what answers.
import { createHash } from 'node:crypto'
import { readEntries } from '#journal/format/changes.ts'
import type { Moment } from '#journal/moment.ts'
import { OctetReader } from '#journal/format/octets.ts'

/** Equal for moments between which nothing has changed. */
export function momentKey({ generation, segment, state, changes }: Moment): string {
  const hash = createHash('sha1').update(state)
  for (const { payload } of changes) hash.update(payload)
  const last = changes.at(-1)
  const entries = last === undefined ? 0 : entriesUntil(last.payload, last.untilMs)
  const { digest, seq } = generation
  return `${segment.run} ${seq} ${digest} ${hash.digest('hex')} ${entries}`
}

function entriesUntil(payload: Buffer, untilMs: number): number {
  let ms = 0
  let count = 0
  for (const entry of readEntries(new OctetReader(payload))) {
    if (entry.kind === 'time') ms += entry.ms
    if (ms > untilMs) return count
    count++
  }
  return count
}
