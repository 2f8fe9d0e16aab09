// Makes records of keys that another server has made, with what happened to them there.
import { formatName, foldName } from '#dns/name.ts'
import type { BindKey } from './key-files.ts'
import { noTimes, recordOfKey } from './key-record.ts'
import type { KeyRecord, KeyRole, KeyTimes } from './key-record.ts'
import { entryFlags } from './zone-key.ts'

/**
 * @param keys all of one zone; with a ZSK among them, the others are KSKs
 * @returns in the order in which they were made, without those that are gone
 */
export function recordsOfBind(keys: readonly BindKey[], nowMs: number): readonly KeyRecord[] {
  const isSplit = keys.some(({ key }) => key.flags !== entryFlags)
  return keys
    .filter(({ times }) => times.removedMs === null || times.removedMs > nowMs)
    .toSorted((a, b) => (a.times.createdMs ?? 0) - (b.times.createdMs ?? 0))
    .map(({ zone, key, times }) => {
      const role: KeyRole = key.flags === entryFlags ? (isSplit ? 'ksk' : 'csk') : 'zsk'
      return recordOfKey(formatName(foldName(zone)), key, role, timesSince(times, role, nowMs))
    })
}

/** A key without times is in use: this is how keys stand that nobody rolls. */
function timesSince(times: KeyTimes, role: KeyRole, nowMs: number): KeyTimes {
  const isKnown = Object.values(times).some((ms) => ms !== null)
  const past = (ms: number | null): number | null => (ms !== null && ms <= nowMs ? ms : null)
  const activeMs = isKnown ? past(times.activeMs) : nowMs
  const publishedMs = past(times.publishedMs) ?? activeMs
  const submitted = past(times.dsSubmittedMs) ?? past(times.dsSeenMs) ?? activeMs
  return {
    ...noTimes,
    createdMs: past(times.createdMs) ?? publishedMs ?? nowMs,
    publishedMs,
    activeMs,
    // The parent is asked: its DS is not believed from a file.
    dsSubmittedMs: role === 'zsk' ? null : submitted,
    retiredMs: past(times.retiredMs),
  }
}
