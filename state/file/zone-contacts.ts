// When primary servers of zones from elsewhere were heard last, in one file of the data directory:
// a restart does not put off that a zone expires.
import { readFileSync, statSync } from 'node:fs'
import type { Clock } from '#lib/clock.ts'
import { writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import type { After } from '#lib/timer.ts'

const zoneContactLimits = Object.freeze({
  /** A larger file is not read: 10,000 zones take a tenth. */
  bytesMax: 8 * 1024 * 1024,
  /** A time that is off by this much changes nothing that matters. */
  writeEveryMs: 60_000,
  /** Zones that are heard for the first time within this time share one write. */
  firstWriteMs: 1_000,
  /** A clock that was so far ahead is told of. */
  aheadMs: 60_000,
})

export interface ZoneContacts {
  /** Unix epoch; 0: unknown. */
  readonly of: (zone: string) => number
  readonly heard: (zone: string, atMs: number) => void
  /** Writes what is not written yet. @param zones those that are still followed */
  readonly flush: (zones?: ReadonlySet<string>) => void
}

/** A file that is missing, damaged or not readable is none. */
export function createZoneContacts(
  path: string,
  { log, after, clock }: { log: Log; after: After; clock: Pick<Clock, 'nowMs'> },
): ZoneContacts {
  const known = read(path, log)
  warnOfFuture(known, path, log, clock.nowMs())
  let writtenAtMs = 0
  let isWritten = true
  let callOff: (() => void) | undefined
  const flush = (zones?: ReadonlySet<string>): void => {
    callOff?.()
    callOff = undefined
    if (isWritten) return
    isWritten = true
    for (const zone of zones === undefined ? [] : known.keys()) {
      if (zones?.has(zone) === false) known.delete(zone)
    }
    try {
      writeDurably(path, `${JSON.stringify(Object.fromEntries(known))}\n`, 0o600)
    } catch (error) {
      log.warn({ file: path, err: error }, 'when primary servers were heard cannot be stored')
    }
  }
  return {
    of: (zone) => known.get(zone) ?? 0,
    heard: (zone, atMs) => {
      const isNew = !known.has(zone)
      known.set(zone, Math.floor(atMs))
      isWritten = false
      if (isNew) callOff ??= after(zoneContactLimits.firstWriteMs, flush)
      if (isNew || Math.abs(atMs - writtenAtMs) < zoneContactLimits.writeEveryMs) return
      writtenAtMs = atMs
      flush()
    },
    flush,
  }
}

/** Such a contact counts as one of now, so that each restart puts the end of the zone off. */
function warnOfFuture(
  known: ReadonlyMap<string, number>,
  file: string,
  log: Log,
  nowMs: number,
): void {
  const aheadMs = known.values().reduce((most, atMs) => Math.max(most, atMs - nowMs), 0)
  if (aheadMs < zoneContactLimits.aheadMs) return
  const zones = known.values().reduce((sum, atMs) => sum + (atMs > nowMs ? 1 : 0), 0)
  log.warn({ file, zones, aheadMs }, inFuture)
}

const inFuture =
  'primary servers were heard in the future, which counts as now: set the clock of this node; if ' +
  'it is right, it was ahead before, and the next contact with each of them mends this'

function read(path: string, log: Log): Map<string, number> {
  const known = new Map<string, number>()
  try {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (bytes === 0 || bytes > zoneContactLimits.bytesMax) return known
    const value = parseJson(readFileSync(path, 'utf8'))
    for (const [zone, atMs] of isFields(value) ? Object.entries(value) : []) {
      if (typeof atMs === 'number' && Number.isFinite(atMs) && atMs > 0) known.set(zone, atMs)
    }
  } catch (error) {
    log.warn({ file: path, err: error }, 'when primary servers were heard cannot be read')
  }
  return known
}
