// Part: runs the periodic jobs of a node.
import { createJobRunner, systemTimers } from '#jobs/runner.ts'
import { jobs } from '#jobs/table.ts'
import type { JobContext } from '#jobs/table.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import { trimMemory } from '#system/worker/release-memory.ts'
import { ensureOwnRepository } from './git.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'
import type { Log } from '#lib/log.ts'
import type { NodeStatus } from '#server/node/node-status.ts'

type OfState =
  'dataDir' | 'records' | 'lookAtDynamicDns' | 'journals' | 'rum' | 'alerts' | 'licence'
type OfKeys = 'keyVault' | 'keyKeeper' | 'acme' | 'verifyDomains'
type OfAnswers = 'node' | 'store' | 'redirectPushes' | 'gitops' | 'repacker' | 'zonePushes'
type OfFleet = 'announceNode' | 'lookAtFleet' | 'delivery' | 'commitNews' | 'sampleLoad'
type Needs = Given & Has<OfState | OfKeys | OfAnswers | OfFleet>

export const runJobs = (have: Needs): Outcome => {
  const runner = createJobRunner({
    jobs,
    ...{ context: contextOf(have), timers: systemTimers, log: have.log },
    random: new Random(process.pid),
  })
  runner.start()
  return ok({
    gives: {},
    stop: async () => {
      await runner.stop()
      // The only job whose work goes on after its run.
      await have.repacker.stop()
    },
  })
}

function contextOf(have: Needs): JobContext {
  const { records, node, store, rum, repacker, licence } = have
  const alarm = new RecordAlarm(have.log)
  return {
    ...records.jobs,
    checkRecordExpiry: () => alarm.check(node.status()),
    retryDisk: () => {
      retryDataDir(have)
      node.retryStore()
    },
    collectOldBundles: async () => void store.collect(),
    lookAtDynamicDns: have.lookAtDynamicDns,
    lookAtZoneKeys: async () => {
      await have.keyVault.look()
      await have.keyKeeper?.look()
    },
    lookAtCertificates: async () => have.acme?.look(),
    lookAtAlerts: () => have.alerts.keeper.look(),
    verifyDomains: have.verifyDomains,
    forgetOldMeasurements: () => rum.sweep(),
    trimMemory,
    packRepository: () => repacker.look(),
    refreshLicence: () => licence.refresh(),
    sampleThreadLoad: have.sampleLoad,
    lookAtDelivery: () => have.delivery.tick(),
    announceNode: have.announceNode,
    lookAtFleet: have.lookAtFleet,
    copyJournals: () => have.journals.look(),
    announceCommit: () => have.commitNews?.tick(),
    pushZones: async () => have.zonePushes?.look(),
    reconcileRedirects: () => have.redirectPushes.tick(),
  }
}

/** A disk that was full may have room again. */
function retryDataDir({ settings, log, dataDir, gitops }: Needs): void {
  if (dataDir.fault() === null || dataDir.retry() !== null) return
  log.info({}, 'the data directory can be written again')
  const origin = ensureOwnRepository(settings)
  if (!origin.ok) log.error({}, origin.error)
  gitops.poke()
}

/** Logs an error when the channel record has expired, and its end when the record is renewed. */
export class RecordAlarm {
  readonly #log: Log
  #isRaised = false

  constructor(log: Log) {
    this.#log = log
  }

  /** To be called every few seconds. The node serves on in either case. */
  check({ expired, active }: Pick<NodeStatus, 'expired' | 'active'>): void {
    if (expired === this.#isRaised) return
    this.#isRaised = expired
    const fields = { seq: active?.seq, expiresAtMs: active?.expiresAtMs }
    if (expired) {
      this.#log.error(
        fields,
        'the channel record is past its expiry: answers go on, but nobody has confirmed them; ' +
          'see whether the clock is right and the Git side works (GET /api/v1/gitops/status)',
      )
    } else this.#log.info(fields, 'the channel record is valid again')
  }
}
