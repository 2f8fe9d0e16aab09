// Opens the journal of this node as its settings want it.
import type { Settings } from '#settings/settings.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { version } from '#lib/version.ts'
import { madeChecks } from '#bundle/load/probed-pools.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import { journalDirectory } from '#journal/journal-directory.ts'
import { Journal } from '#journal/journal.ts'
import { databasesOf } from '#inputs/geo/databases.ts'

interface NodeJournalParts {
  readonly settings: Settings
  /** The data directory; it may be opened later. */
  readonly dataDir: string
  readonly geo: Pick<GeoSource, 'status'>
  readonly log: Log
  /** Resolves when this process holds the data directory. */
  readonly mayWrite?: Promise<unknown> | undefined
}

/** @returns null: the settings keep none, or the node answers no DNS */
export function createNodeJournal(parts: NodeJournalParts): Journal | null {
  const { settings, dataDir, geo, log, mayWrite } = parts
  const { journal: wanted, health } = settings
  const { enabled, maxAgeMs, maxMegabytes } = wanted
  if (!enabled || !settings.roles.includes('dns')) return null
  return new Journal({
    directory: journalDirectory(dataDir),
    bytesMax: maxMegabytes * 1_048_576,
    ageMaxMs: maxAgeMs,
    node: settings.state.nodeName,
    version,
    checks: madeChecks(health.enabled ? { runsScripts: health.allowScriptChecks } : null),
    ...{ clock: systemClock, log },
    tables: () => databasesOf(geo),
    ...(mayWrite === undefined ? {} : { mayWrite }),
  })
}
