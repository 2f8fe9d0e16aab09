// Parts: the state beside the configuration: shared and short-lived (Redis or memory), or lasting
// (the database), with the TSIG keys and TXT records.
import { join } from 'node:path'
import { startDynamicDns } from '#node/compose/dynamic-dns.ts'
import { startCertificates } from '#node/certificates/node-certificates.ts'
import { startKeyVault } from '#node/signing/key-vault.ts'
import { JournalKeeper } from '#node/journal/journal-keeper.ts'
import { openBackupSocket } from '#node/stores/backup-socket.ts'
import { createNodeRecords } from '#node/stores/records.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

/** A Redis that is away is no error. */
export const openSharedState = ({ settings, log }: Given): Outcome<Has<'shared'>> => {
  const { redis, dataDir } = settings
  const endedSessionsFile = join(dataDir, 'node', 'ended-sessions')
  const shared = createEphemeral({ redis, clock: systemClock, log, endedSessionsFile })
  if (!shared.ok) return shared
  return ok({ gives: { shared: shared.value }, stop: () => shared.value.close() })
}

/** Returns the objects with more hits than at the last call. */
function hitsSince(): (hits: ReadonlyMap<string, number>) => readonly string[] {
  let before: ReadonlyMap<string, number> = new Map()
  return (hits) => {
    const more = [...hits].filter(([uid, count]) => count !== before.get(uid))
    before = hits
    return more.map(([uid]) => uid)
  }
}

export const keepRecords = ({ settings, log, later }: Given): Outcome<Has<'records'>> => {
  const newHits = hitsSince()
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

/** Started before the journal, so that a stop copies the last records. */
export const keepJournals = (
  have: Given & Has<'records' | 'dataDir'>,
): Outcome<Has<'journals'>> => {
  const { settings, log, records, dataDir } = have
  const { persistent, exists } = records.state
  const journals = new JournalKeeper({
    ...{ settings, dataDir: dataDir.path, journals: persistent.journals, exists },
    ...{ clock: systemClock, log },
  })
  return ok({ gives: { journals }, stop: () => journals.stop() })
}

type OfDynamicDns = 'dynamicDns' | 'lookAtDynamicDns' | 'followDynamicDns'

export const keepDynamicDns = async (
  have: Given & Has<'records'>,
): Promise<Outcome<Has<OfDynamicDns>>> => {
  const { settings, log, env, records } = have
  const parts = { settings, env, state: records.state, clock: systemClock, log }
  const started = await startDynamicDns(parts)
  if (!started.ok) return started
  const { dynamicDns, look, follow, stop } = started.value
  return ok({ gives: { dynamicDns, lookAtDynamicDns: look, followDynamicDns: follow }, stop })
}

export const keepZoneKeys = (have: Given & Has<'records'>): Outcome<Has<'keyVault'>> => {
  const { settings, log, env, records } = have
  const { state } = records
  const keyVault = startKeyVault({ settings, env, state, clock: systemClock, log })
  return ok({ gives: { keyVault }, stop: keyVault.stop })
}

export const keepCertificates = (have: Given & Has<'records'>): Outcome<Has<'certificates'>> => {
  const { settings, log, env, records } = have
  const { state } = records
  const started = startCertificates({ settings, env, state, clock: systemClock, log })
  if (!started.ok) return started
  const certificates = started.value
  return ok({ gives: { certificates }, stop: () => certificates?.stop() })
}

/** Started when the local copies are in force, since this opens the database. */
export const lookAtDatabase = (
  have: Has<'followDynamicDns' | 'keyVault' | 'certificates'>,
): Outcome => {
  have.followDynamicDns()
  have.keyVault.follow()
  have.certificates?.follow()
  return ok({ gives: {} })
}

/** Serves `gslbd backup`. */
export const listenForBackupRequests = (have: Given & Has<'dataDir' | 'records'>): Outcome => {
  const { dataDir, records, log } = have
  const { close } = openBackupSocket(dataDir.path, records.backUpNow, log)
  return ok({ gives: {}, stop: close })
}
