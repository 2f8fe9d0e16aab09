// Parts: what the node keeps besides its configuration. Shared and short-lived (Redis or memory),
// or lasting (the database), and of that the TSIG keys and TXT records.
import { join } from 'node:path'
import { startDynamicDns } from '#node/compose/dynamic-dns.ts'
import { JournalKeeper } from '#node/past/journal-keeper.ts'
import { openBackupSocket } from '#node/stores/backup-socket.ts'
import { createNodeRecords } from '#node/stores/records.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { Deps, Part } from './part.ts'

/** What all keys of this program in Redis begin with. */
const prefix = 'gslbd:'

/** A Redis that is away is no error. */
export const openSharedState: Part = ({ settings: { redis, dataDir }, log }) => {
  const endedSessionsFile = join(dataDir, 'node', 'ended-sessions')
  const shared = createEphemeral({ redis, prefix, clock: systemClock, log, endedSessionsFile })
  if (!shared.ok) return shared
  return ok({ gives: { shared: shared.value }, stop: () => shared.value.close() })
}

/** Which of them have more hits than at the last call. */
function hitsSince(): (hits: ReadonlyMap<string, number>) => readonly string[] {
  let before: ReadonlyMap<string, number> = new Map()
  return (hits) => {
    const more = [...hits].filter(([uid, count]) => count !== before.get(uid))
    before = hits
    return more.map(([uid]) => uid)
  }
}

export const keepRecords: Part = (deps) => {
  const newHits = hitsSince()
  const { settings, log } = deps
  // A later part that fails ends the node before it has answered anything.
  const later: Partial<Deps> = deps
  const takeQueries = (): ReadonlyMap<string, number> => later.node?.meter.take() ?? new Map()
  const responseHits = (): ReadonlyMap<string, number> => {
    const hits = new Map(later.node?.responseHits.counted() ?? [])
    for (const [uid, count] of later.redirects?.counted() ?? []) hits.set(uid, count)
    return hits
  }
  const use = {
    takeUsed: () => ({
      ...(later.node?.meter.takeUsed() ?? { names: [], members: [] }),
      rules: newHits(responseHits()),
    }),
    objects: () => later.node?.meter.objects() ?? null,
  }
  const parts = { settings, takeQueries, responseHits, use, clock: systemClock, log }
  const records = createNodeRecords(parts)
  return ok({ gives: { records }, stop: () => records.close() })
}

/** Before the journal itself: a stop copies what it has written last. */
export const keepJournals: Part = ({ settings, log, records, dataDir }) => {
  const { persistent, exists } = records.state
  const journals = new JournalKeeper({
    ...{ settings, dataDir: dataDir.path, journals: persistent.journals, exists },
    ...{ clock: systemClock, log },
  })
  return ok({ gives: { journals }, stop: () => journals.stop() })
}

export const keepDynamicDns: Part = async ({ settings, log, env, records }) => {
  const parts = { settings, env, state: records.state, clock: systemClock, log }
  const started = await startDynamicDns(parts)
  if (!started.ok) return started
  const { dynamicDns, look, follow, stop } = started.value
  return ok({ gives: { dynamicDns, lookAtDynamicDns: look, followDynamicDns: follow }, stop })
}

/** When the copy of them is answered from: the database is opened for this. */
export const lookAtDynamicDns: Part = ({ followDynamicDns }) => {
  followDynamicDns()
  return ok({})
}

/** For `gslbd backup`. */
export const hearBackupRequests: Part = ({ dataDir, records, log }) => {
  const { close } = openBackupSocket(dataDir.path, records.backUpNow, log)
  return ok({ stop: close })
}
