// The whole daemon, put together and taken apart: data directory, key, node, Git, API, jobs.
import { createGitopsControl } from '#gitops/thread/control.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import { originPath } from '#gitops/thread/options.ts'
import { ensureOrigin } from '#gitops/source/origin.ts'
import type { CommitPublication } from '#gitops/sync/publication.ts'
import type { Repacker } from '#gitops/git/repacker.ts'
import { createJobRunner, systemTimers } from '#jobs/runner.ts'
import type { JobRunner } from '#jobs/runner.ts'
import { jobs } from '#jobs/table.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { BundleStore } from '#runtime/node/bundle-store.ts'
import type { HealthMonitor } from '#runtime/health/view/monitor.ts'
import { DnsNode } from '#runtime/node/node.ts'
import { QueryBucket, queryBucketBytes } from '#runtime/answer/query-bucket.ts'
import { RumStore } from '#runtime/node/rum-store.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import { openDataDirToServe } from '#cli/data/data-dir.ts'
import type { DataDir } from '#cli/data/data-dir.ts'
import { endPatienceMs, endWithin } from '#cli/terminal/end-now.ts'
import { createRepacker, sshAccess } from './git-programs.ts'
import { createGitopsLog } from '#cli/status/gitops-log.ts'
import type { ProcessLog } from '#cli/terminal/log.ts'
import { checkPolicyOfNode } from '#cli/files/check-policy.ts'
import { createMemberHealthView } from '#cli/status/member-health-view.ts'
import { createNodeApi } from './api.ts'
import type { NodeApi } from './api.ts'
import { createNodeGeo } from './geo.ts'
import type { NodeGeo } from './geo.ts'
import { createNodeHealth } from './health.ts'
import { createNodeLicence } from './licence.ts'
import type { NodeLicence } from './licence.ts'
import { openNodeKey } from '#cli/data/key.ts'
import type { NodeKey } from '#cli/data/key.ts'
import { createNodeRecords } from './records.ts'
import type { NodeRecords } from './records.ts'
import { createNodeRum } from './rum.ts'
import { threadsOf } from './threads.ts'
import { createOperatorView } from '#cli/status/operator-view.ts'
import { RecordAlarm } from '#cli/status/record-alarm.ts'
import { changedSettings, reloadedSettings } from '#cli/settings/settings.ts'
import type { Settings } from '#cli/settings/settings.ts'
import { openEphemeralState } from '#cli/data/ephemeral-state.ts'
import { ThreadLoad } from '#cli/status/thread-load.ts'

export interface Daemon {
  readonly dnsPort: number
  /** null: the API is off. */
  readonly apiPort: number | null
  /** Applies what can be applied without a restart, and logs what cannot. */
  readonly reload: (settings: Settings) => Promise<void>
  /** Lets answers under way go out; the order is the reverse of the start. */
  readonly stop: () => Promise<void>
}

/** One name for the only channel of this version. */
const channel = 'main'
/** A record is renewed long before; a node that has not heard for so long raises an alarm. */
const recordTtlMs = 24 * 3_600_000

/**
 * Starts everything, or nothing. Errors: a sentence for the operator.
 *
 * @param prepare runs when the data directory is held, before anything reads it
 */
export async function startDaemon(
  settings: Settings,
  log: ProcessLog,
  prepare: () => Promise<Result<null, string>> = async () => ok(null),
): Promise<Result<Daemon, string>> {
  const dataDir = openDataDirToServe(settings.dataDir, log)
  if (!dataDir.ok) return dataDir
  const prepared = await prepare()
  const opened = prepared.ok ? openKeyAndState(settings, log) : prepared
  if (!opened.ok) {
    dataDir.value.release()
    return opened
  }
  const { key, shared } = opened.value
  const running = new RunningDaemon(settings, log, dataDir.value, key, shared)
  const started = await running.start()
  if (started.ok) return ok(running)
  log.error({}, started.error)
  endWithin(endPatienceMs, log)
  await running.stop()
  return started
}

function openKeyAndState(
  settings: Settings,
  log: ProcessLog,
): Result<{ readonly key: NodeKey; readonly shared: EphemeralState }, string> {
  const key = openNodeKey(settings.dataDir)
  if (!key.ok) return key
  if (key.value.warning !== undefined) log.warn({}, key.value.warning)
  const shared = openEphemeralState(settings, log)
  return shared.ok ? ok({ key: key.value, shared: shared.value }) : shared
}

class RunningDaemon implements Daemon {
  #settings: Settings
  readonly #log: ProcessLog
  readonly #dataDir: DataDir
  readonly #key: NodeKey
  readonly #store: BundleStore
  readonly #shared: EphemeralState
  readonly #health: HealthMonitor | null
  readonly #geo: NodeGeo
  readonly #node: DnsNode
  readonly #load = new ThreadLoad(systemClock)
  readonly #rum = new RumStore(systemClock)
  readonly #queryBucket = new SharedArrayBuffer(queryBucketBytes)
  readonly #records: NodeRecords
  readonly #repacker: Repacker
  #licence: NodeLicence | undefined
  readonly #jobs: JobRunner
  #gitops: GitopsControl | undefined
  #api: NodeApi | undefined
  #activations: Promise<void> = Promise.resolve()
  #commitToActiveSeconds: number | null = null
  #isUnprobedTold = false
  /** Newest commit, and when it was seen on the monotonic clock. */
  #head = { commit: '', seenAtMs: 0 }
  dnsPort = 0
  apiPort: number | null = null

  constructor(
    settings: Settings,
    log: ProcessLog,
    dataDir: DataDir,
    key: NodeKey,
    shared: EphemeralState,
  ) {
    this.#settings = settings
    this.#log = log
    this.#dataDir = dataDir
    this.#key = key
    this.#store = new BundleStore(dataDir.path)
    const clock = systemClock
    this.#shared = shared
    this.#health = createNodeHealth(settings, shared, log, process.env)
    this.#geo = createNodeGeo(settings, log)
    this.#node = new DnsNode({
      threads: {
        ...threadsOf(settings),
        seed: process.pid ^ Math.floor(clock.nowMs()),
        rum: this.#rum.buffer,
        queryBucket: this.#queryBucket,
      },
      store: this.#store,
      trusted: [key.signing],
      health: this.#health,
      geo: this.#geo,
      clock,
      log,
    })
    const takeQueries = (): ReadonlyMap<string, number> => this.#node.takeQueries()
    this.#records = createNodeRecords({ settings, takeQueries, clock, log })
    this.#repacker = createRepacker(settings, log)
    const alarm = new RecordAlarm(log)
    this.#jobs = createJobRunner({
      jobs,
      context: {
        ...this.#records.jobs,
        checkRecordExpiry: () => {
          alarm.check(this.#node.status())
          this.#retryDataDir()
        },
        collectOldBundles: async () => void this.#store.collect(),
        forgetOldMeasurements: () => this.#rum.sweep(),
        packRepository: () => this.#repacker.look(),
        refreshLicence: async () => this.#licence?.refresh(),
        sampleThreadLoad: () =>
          this.#load.sample(this.#node.counters().map(({ threadId }) => threadId)),
      },
      clock,
      timers: systemTimers,
      random: new Random(process.pid),
      log,
    })
  }

  async start(): Promise<Result<null, string>> {
    // First the tables, so that no client is answered as if it were nowhere.
    await this.#geo.source.start()
    const dns = await this.#node.start()
    if (!dns.ok) return dns
    this.dnsPort = dns.value.port
    const fault = this.#dataDir.fault()
    if (fault !== null) {
      if (this.#node.status().active === null) return err(fault)
      this.#log.error({}, `${fault}; until then the last bundle is served and no change is kept`)
    }
    const origin = this.#ensureOrigin()
    // A node that cannot write goes on without its origin; it serves all the same.
    if (!origin.ok && fault === null) return origin
    this.#warnOfUnprobedPools()
    this.#gitops = this.#createGitops()
    const isServed = this.#settings.api.enabled
    const begun = isServed ? await this.#startApi(this.#gitops) : this.#startLicence(this.#gitops)
    if (!begun.ok) return begun
    // Not waited for: making a database takes seconds.
    this.#licence?.refresh().catch((error: unknown) => {
      this.#log.error({ error: String(error) }, 'the licence cannot be looked at')
    })
    await this.#gitops.start()
    this.#jobs.start()
    if (isServed) await this.#gitops.firstLook()
    const { listenAddr, threads } = this.#settings.dns
    this.#log.info(
      { listenAddr, port: this.dnsPort, threads, apiPort: this.apiPort },
      'gslbd is running',
    )
    return ok(null)
  }

  /** A disk that was full may have room again. */
  #retryDataDir(): void {
    if (this.#dataDir.fault() === null || this.#dataDir.retry() !== null) return
    this.#log.info({}, 'the data directory can be written again')
    const origin = this.#ensureOrigin()
    if (!origin.ok) this.#log.error({}, origin.error)
    this.#gitops?.poke()
  }

  /** Once per time that such pools come up: a person who has declared checks expects them. */
  #warnOfUnprobedPools(): void {
    const pools = this.#health === null ? this.#node.poolsWithHealthCheck() : 0
    if (pools > 0 && !this.#isUnprobedTold) {
      this.#log.warn(
        { pools },
        'health checks are declared but health.enabled is false: every member counts as healthy',
      )
    }
    this.#isUnprobedTold = pools > 0
  }

  /** Without a remote, people can push as soon as the log says that gslbd is running. */
  #ensureOrigin(): Result<unknown, string> {
    const { dataDir, gitops } = this.#settings
    return gitops.url === '' ? ensureOrigin(originPath(dataDir), gitops.branch) : ok(null)
  }

  #createGitops(): GitopsControl {
    const { gitops, health } = this.#settings
    const control = createGitopsControl({
      dataDir: this.#settings.dataDir,
      url: gitops.url,
      branch: gitops.branch,
      pollMs: gitops.pollMs,
      requireSignature: gitops.requireSignature,
      allowedSignersPath: gitops.allowedSigners,
      ssh: sshAccess(gitops),
      channel,
      signingKeyPem: this.#key.pem,
      recordTtlMs,
      checkPolicy: checkPolicyOfNode(health),
      resume: this.#node.resumePoint(),
    })
    const tell = createGitopsLog(this.#log)
    control.onStatus((status, change) => {
      this.#noteHead(status.head?.commit)
      tell(status, change)
    })
    control.onPrepare((bundle) => this.#node.prepare(bundle))
    control.onPublish((publication) => {
      // One after the other: two activations at once could finish in the wrong order.
      this.#activations = this.#activations
        .then(() => this.#activate(publication))
        // A fault of ours, or no memory left: what serves goes on, and so do later publications.
        .catch((error: unknown) => this.#log.error({ err: error }, 'a bundle was not activated'))
      return this.#activations
    })
    return control
  }

  async #activate(publication: CommitPublication): Promise<void> {
    const activated = await this.#node.activate(publication)
    if (!activated.ok || activated.value === 'unchanged') return
    this.#warnOfUnprobedPools()
    if (publication.commit !== this.#head.commit) return
    this.#commitToActiveSeconds = (systemClock.monotonicMs() - this.#head.seenAtMs) / 1000
  }

  #noteHead(commit: string | undefined): void {
    if (commit === undefined || commit === this.#head.commit) return
    this.#head = { commit, seenAtMs: systemClock.monotonicMs() }
  }

  async #startApi(gitops: GitopsControl): Promise<Result<null, string>> {
    const view = createOperatorView({
      geo: () => this.#geo.source.status(),
      node: this.#node,
      gitops,
      health: this.#health,
      shared: this.#shared.status,
      load: this.#load,
      canKeep: () => this.#dataDir.fault() === null,
      isBackedUp: this.#records.isBackedUp,
      database: this.#records.database,
      repository: () => this.#repacker.status(),
      clock: systemClock,
      branch: this.#settings.gitops.branch,
      commitToActiveSeconds: () => this.#commitToActiveSeconds,
      feedClients: () => this.#api?.feedClients() ?? 0,
      isAudited: () => this.#api?.isAudited() ?? true,
      licenceWarnings: () => this.#licence?.warnings() ?? [],
    })
    const api = createNodeApi({
      settings: this.#settings,
      log: this.#log,
      view,
      config: gitops.config,
      configWriter: gitops,
      memberHealth: createMemberHealthView(
        this.#health,
        this.#settings.state.nodeName,
        systemClock,
      ),
      shared: this.#shared,
      records: this.#records,
      overlays: {
        rollout: (uid) => this.#node.overlays().rollouts.find((one) => one.uid === uid),
      },
      rum: createNodeRum(this.#rum, () => this.#node.bundle()),
      env: process.env,
      onRate: this.#permit,
      health: this.#health,
    })
    if (!api.ok) return api
    this.#api = api.value
    this.#licence = api.value.licence
    const listening = await this.#api.listen()
    if (!listening.ok) return listening
    this.apiPort = listening.value.port
    return ok(null)
  }

  #startLicence({ config }: GitopsControl): Result<null, string> {
    const { license: settings } = this.#settings
    const { state } = this.#records
    const parts = { settings, state, env: process.env, config, clock: systemClock, log: this.#log }
    const licence = createNodeLicence({ ...parts, health: this.#health, onRate: this.#permit })
    if (!licence.ok) return licence
    this.#licence = licence.value
    return ok(null)
  }

  readonly #permit = (perSecond: number): void => {
    new QueryBucket(this.#queryBucket).adopt(perSecond)
  }

  async reload(next: Settings): Promise<void> {
    const { applied, needRestart } = changedSettings(this.#settings, next)
    if (needRestart.length > 0) {
      this.#log.warn({ settings: needRestart }, 'these settings change only with a restart')
    }
    this.#settings = reloadedSettings(this.#settings, next)
    const { logging, license, gitops } = this.#settings
    const { pollMs, allowedSigners } = gitops
    this.#log.setLevel(logging.level)
    if (applied.some((setting) => setting.startsWith('license.'))) {
      await this.#licence?.reload(license)
    }
    if (applied.some((setting) => setting.startsWith('gitops.'))) {
      await this.#gitops?.reload({ pollMs, allowedSignersPath: allowedSigners })
    } else {
      this.#gitops?.poke()
    }
    this.#log.info({ applied }, 'settings reloaded')
  }

  async stop(): Promise<void> {
    this.#node.callOffStarts()
    await this.#jobs.stop()
    await this.#repacker.stop()
    await this.#api?.close()
    await this.#gitops?.stop()
    await this.#activations
    await this.#geo.source.stop()
    await this.#node.stop()
    await this.#records.close()
    this.#shared.close()
    this.#dataDir.release()
    this.#log.info({}, 'gslbd has stopped')
  }
}
