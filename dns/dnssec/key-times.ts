// What has happened to a key, compared and brought back to the present.
import type { KeyRecord, KeyTimes } from './key-record.ts'

export const areSame = (a: KeyTimes, b: KeyTimes): boolean =>
  (Object.keys(a) as (keyof KeyTimes)[]).every((name) => a[name] === b[name])

/** A time to come is of a clock that was ahead: it becomes now. @param all keys of the zone */
export function notAfter(times: KeyTimes, nowMs: number, all: readonly KeyRecord[]): KeyTimes {
  const entries = Object.entries(times) as [keyof KeyTimes, number | null][]
  if (entries.every(([, at]) => at === null || at <= nowMs)) return times
  const past = Object.fromEntries(
    entries.map(([name, at]) => [name, at === null ? null : Math.min(at, nowMs)]),
  ) as unknown as KeyTimes
  const { dsSubmittedMs } = times
  if (dsSubmittedMs === null || dsSubmittedMs <= nowMs) return past
  // The order of keys stays: CDS names the last one alone, not two at once.
  const later = all.filter((one) => (one.times.dsSubmittedMs ?? 0) > dsSubmittedMs).length
  return { ...past, dsSubmittedMs: nowMs - later }
}

/** Whether the DS of any key was ever given to the parent, or seen there. */
export function hadDs(records: readonly KeyRecord[]): boolean {
  return records.some(({ times }) => times.dsSubmittedMs !== null || times.dsSeenMs !== null)
}
