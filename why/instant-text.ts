// Parses an instant as people write it: `03:12`, `90m` ago, or a full date.
import { parseDuration } from '#lib/duration.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { readInstant } from '#schemas/forms/instant.ts'

const dayMs = 86_400_000
const timeOfDay = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?$/

/**
 * A time of day is the last such time in UTC: at 02:00, `03:12` was yesterday.
 *
 * @returns Unix epoch milliseconds. Errors: a clause.
 */
export function readPastInstant(text: string, nowMs: number): Result<number, string> {
  const clock = timeOfDay.exec(text)
  if (clock !== null) return timeOfDayBefore(clock, text, nowMs)
  const ago = parseDuration(text)
  if (ago.ok && text !== '0') return ok(Math.max(0, nowMs - ago.value))
  const instant = readInstant(text)
  return instant.fault === undefined ? ok(instant.atMs) : err(`"${text}" ${forms}`)
}

const forms =
  'is no instant; write 2026-01-31T03:12:00Z, a time of day in UTC such as 03:12, or how long ' +
  'ago it was, such as 90m'

function timeOfDayBefore(
  match: RegExpExecArray,
  text: string,
  nowMs: number,
): Result<number, string> {
  const [hour, minute, second] = match.slice(1, 4).map((digits) => Number(digits ?? '0'))
  if (hour! > 23 || minute! > 59 || second! > 59) return err(`"${text}" ${forms}`)
  const millis = Number((match[4] ?? '').padEnd(3, '0'))
  const ofDayMs = ((hour! * 60 + minute!) * 60 + second!) * 1_000 + millis
  const todayMs = nowMs - (nowMs % dayMs) + ofDayMs
  return ok(todayMs <= nowMs ? todayMs : todayMs - dayMs)
}
