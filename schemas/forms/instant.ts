// The schema and the parser of an instant (RFC 3339).
import { Type } from '#lib/schema/type.ts'

/** Any text fits the schema: a rule of the compiler checks it and can say what is wrong. */
export function Instant(description: string) {
  return Type.String({
    minLength: 1,
    maxLength: 64,
    description: `${description} RFC 3339 with a zone: \`2026-01-31T12:00:00Z\`.`,
  })
}

/** `no-zone`: without a zone, a date and time means another instant to each reader. */
type InstantFault = 'no-zone' | 'not-an-instant'
type ReadInstant =
  | { readonly atMs: number; readonly fault?: undefined }
  | { readonly atMs?: undefined; readonly fault: InstantFault }

const form =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|z|[+-]\d\d:\d\d)?$/

/** @returns Unix epoch milliseconds; digits below the millisecond are cut off */
export function readInstant(text: string): ReadInstant {
  const match = form.exec(text)
  if (match === null) {
    const isDate = /^\d{4}-\d\d-\d\d([Tt ][\d:.]*)?$/.test(text)
    return { fault: isDate && !text.includes(' ') ? 'no-zone' : 'not-an-instant' }
  }
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? '0')) as [number, number, number, number, number, number]
  const millis = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second, millis)
  // February 30 would silently become March; years below 100 would become 19xx.
  const isReal =
    hour < 24 && minute < 60 && second < 60 && year >= 1970 && new Date(wallMs).getUTCDate() === day
  if (!isReal || new Date(wallMs).getUTCMonth() !== month - 1) return { fault: 'not-an-instant' }
  const zone = match[8]
  if (zone === undefined) return { fault: 'no-zone' }
  const offset = offsetMinutes(zone)
  const atMs = wallMs - (offset ?? 0) * 60_000
  return offset === undefined || atMs < 0 ? { fault: 'not-an-instant' } : { atMs }
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4, 6))
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
