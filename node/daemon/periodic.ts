// Part: the jobs of a running node, each on its period.
import { RecordAlarm } from '#node/status/record-alarm.ts'
import { createJobRunner, systemTimers } from '#jobs/runner.ts'
import type { JobContext } from '#jobs/table.ts'
import { jobs } from '#jobs/table.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import { trimMemory } from '#system/worker/release-memory.ts'
import { ensureOwnRepository } from './git.ts'
import type { Deps, Part } from './part.ts'

export const runJobs: Part = (deps) => {
  const runner = createJobRunner({
    jobs,
    context: contextOf(deps),
    clock: systemClock,
    timers: systemTimers,
    random: new Random(process.pid),
    log: deps.log,
  })
  runner.start()
  return ok({
    stop: async () => {
      await runner.stop()
      // The only one that begins what goes on after its run.
      await deps.repacker.stop()
    },
  })
}

function contextOf(deps: Deps): JobContext {
  const { records, node, store, rum, repacker, licence } = deps
  const alarm = new RecordAlarm(deps.log)
  return {
    ...records.jobs,
    checkRecordExpiry: () => alarm.check(node.status()),
    retryDisk: () => {
      retryDataDir(deps)
      node.retryStore()
    },
    collectOldBundles: async () => void store.collect(),
    lookAtDynamicDns: deps.lookAtDynamicDns,
    lookAtAlerts: () => deps.alerts.keeper.look(),
    verifyDomains: deps.verifyDomains,
    forgetOldMeasurements: () => rum.sweep(),
    trimMemory,
    packRepository: () => repacker.look(),
    refreshLicence: () => licence.refresh(),
    sampleThreadLoad: deps.sampleLoad,
    lookAtDelivery: () => deps.delivery.tick(),
    announceNode: deps.announceNode,
    lookAtFleet: deps.lookAtFleet,
    copyJournals: () => deps.journals.look(),
    announceCommit: () => deps.commitNews?.tick(),
    reconcileRedirects: () => deps.redirectPushes.tick(),
  }
}

/** A disk that was full may have room again. */
function retryDataDir({ settings, log, dataDir, gitops }: Deps): void {
  if (dataDir.fault() === null || dataDir.retry() !== null) return
  log.info({}, 'the data directory can be written again')
  const origin = ensureOwnRepository(settings)
  if (!origin.ok) log.error({}, origin.error)
  gitops.poke()
}
