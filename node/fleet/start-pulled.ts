// Starts and stops nodes that pull, whatever they do with a bundle; reports their state to others,
// and runs their periodic work.
import type { KeyObject } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { openDataDirLater, openDataDirToServe } from '#process/data/data-dir.ts'
import { startCalledOff, logCalledOff } from '#process/data/called-off.ts'
import type { DataDir } from '#process/data/data-dir.ts'
import type { Daemon } from '#process/replace/daemon.ts'
import { stopParts } from '#node/parts/part.ts'
import type { NodeStart, Stop, Stops } from '#node/parts/part.ts'
import { WriteGate } from '#process/data/predecessor.ts'
import { readBundleToken, readNodeKey } from '#process/data/secrets.ts'
import { changedSettings, reloadedSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import type { ProcessLog } from '#process/log.ts'
import { signedReport } from '#fleet/nodes/credentials.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { noLongerThan } from '#lib/timer.ts'
import { keepThreadsSmall } from '#system/worker/release-memory.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import type { MemoryReleases } from '#lib/memory/memory-releases.ts'
import { BundleKeys } from './bundle-keys.ts'
import type { PulledNode } from './pulled-node.ts'
import { openStatusServer } from './status.ts'
import type { OpenStatus } from './status.ts'

/** Interval at which a full disk is tried again, and an expired record is noticed. */
const lookEveryMs = 30_000
const reportEveryMs = 5_000
const leavePatienceMs = 1_000

/** State that changes while the node starts and stops. */
export interface Run {
  readonly stops: Stops
  /** Opens when the data directory is held. */
  readonly gate: WriteGate
  /**
   * True when a successor reports that the node exists, so that this process need not say goodbye.
   */
  isReplaced: boolean
}

export interface StartedNode extends Pick<Daemon, 'dnsPort' | 'apiPort' | 'sockets' | 'isServing'> {
  /** Called with the settings that are in force from now on. */
  readonly reread: (now: Settings) => void
}

/**
 * Starts everything, or nothing. Errors: a sentence for the operator.
 *
 * @param says the log line of a start; ports are added
 */
export async function startPulled(
  given: NodeStart,
  start: (given: NodeStart, run: Run) => Promise<Result<StartedNode, string>>,
  says: Readonly<Record<string, unknown>>,
): Promise<Result<Daemon, string>> {
  const { settings, log } = given
  keepThreadsSmall()
  const run: Run = { stops: { first: [], last: [] }, gate: new WriteGate(), isReplaced: false }
  const started = await start(given, run)
  const stop = async (): Promise<void> => {
    run.gate.giveUp()
    await stopParts(run.stops.first)
    await stopParts(run.stops.last.reverse())
    if (!run.isReplaced) log.info({}, 'gslbd has stopped')
  }
  if (!started.ok) {
    if (started.error === startCalledOff) logCalledOff(log, given.calledOff)
    await stop()
    return started
  }
  let now = settings
  const { dnsPort, apiPort, sockets, isServing, reread } = started.value
  log.info({ ...says, port: dnsPort, apiPort }, 'gslbd is running')
  const reload = async (next: Settings): Promise<void> => {
    const { needRestart } = changedSettings(now, next)
    if (needRestart.length > 0) {
      log.warn({ settings: needRestart }, 'these settings change only with a restart')
    }
    now = reloadedSettings(now, next)
    log.setLevel(now.logging.level)
    reread(now)
    log.info({}, 'settings reloaded')
  }
  const letGo = (): Promise<void> => {
    assert(!run.isReplaced, 'a process lets go once')
    run.isReplaced = true
    return stopParts(run.stops.first)
  }
  const parts = { dnsPort, apiPort, sockets, isServing, reload, letGo, stop }
  return ok({ ...parts, isRestarting: () => false })
}

/** What a node that pulls begins with. */
interface PulledStart {
  /** Permits to ask control nodes; null: it is not set. */
  readonly token: string | null
  /** Signs the reports of this node; null: it is not set. */
  readonly nodeKey: KeyObject | null
  readonly keys: BundleKeys
  readonly dataDir: DataDir
  readonly shared: EphemeralState
}

/**
 * Reads the secrets and the trusted keys, connects to Redis, and opens the data directory, or waits
 * for the process before; the gate opens then. Errors: a sentence for the operator.
 */
export function openPulled(
  { settings, log, env, before }: NodeStart,
  run: Run,
): Result<PulledStart, string> {
  const token = readBundleToken(env)
  if (!token.ok) return token
  const nodeKey = readNodeKey(env)
  if (!nodeKey.ok) return nodeKey
  const keys = BundleKeys.open(settings.bundle.keys)
  if (!keys.ok) return keys
  const dataDir =
    before === null
      ? openDataDirToServe(settings.dataDir, log)
      : ok(openDataDirLater(settings.dataDir))
  if (!dataDir.ok) return dataDir
  if (before === null) run.gate.open()
  run.stops.first.push(() => dataDir.value.release())
  const { redis } = settings
  const shared = createEphemeral({ redis, clock: systemClock, log })
  if (!shared.ok) return shared
  run.stops.first.push(() => shared.value.close())
  return ok({
    ...{ token: token.value, nodeKey: nodeKey.value, keys: keys.value },
    ...{ dataDir: dataDir.value, shared: shared.value },
  })
}

/** Signs reports. By Redis they are sent more often than by HTTP, and say so. */
export function sealing(
  { redis }: Settings,
  status: PulledNode['shared']['status'],
  key: KeyObject | null,
): PulledNode['sealed'] {
  return (report) => {
    const isOften = redis.url !== '' && status().state !== 'away'
    return signedReport(isOften ? { ...report, againMs: reportEveryMs } : report, key)
  }
}

/** Shows the state, pulls, and reports to others. Errors: a sentence for the operator. */
export async function beginPulling(
  pulled: PulledNode,
  { log, env, before }: Pick<NodeStart, 'log' | 'env' | 'before'>,
  run: Run,
  releases: Pick<MemoryReleases, 'changed'>,
): Promise<Result<OpenStatus, string>> {
  const { node, puller } = pulled
  const stops = run.stops.first
  const status = await openStatusServer(pulled, log, env, before?.sockets)
  if (!status.ok) return status
  stops.push(() => status.value.close())
  puller.start()
  if (node.status().active !== null) releases.changed()
  stops.push(() => puller.stop())
  stops.push(reportToOthers(pulled, run))
  stops.push(lookPeriodically(pulled, log))
  return status
}

type ReportingNode = Pick<PulledNode, 'settings' | 'shared' | 'puller' | 'report' | 'sealed'>

/** Reports by Redis if there is one, also when bundles come from a web server. */
function reportToOthers(
  { settings, shared: { pullingNodes }, puller, report, sealed }: ReportingNode,
  run: Pick<Run, 'isReplaced'>,
): Stop {
  if (settings.redis.url === '') return () => undefined
  const tell = async (isLeaving: boolean): Promise<void> => {
    const word = { ...report(puller.pulled()), isLeaving }
    const key = `${word.name} ${word.instance}`
    await pullingNodes.tell({ key, text: JSON.stringify(sealed(word)), atMs: systemClock.nowMs() })
  }
  const timer = setInterval(() => void tell(false), reportEveryMs)
  void tell(false)
  return () => {
    clearInterval(timer)
    return run.isReplaced ? undefined : noLongerThan(leavePatienceMs, tell(true))
  }
}

/** Tries a full disk again, and notices an expired record. */
function lookPeriodically(
  { node, dataDir, store }: Pick<PulledNode, 'node' | 'dataDir' | 'store'>,
  log: ProcessLog,
): Stop {
  let wasExpired = false
  const timer = setInterval(() => {
    if (dataDir.fault() !== null && dataDir.retry() === null) {
      log.info({}, 'the data directory can be written again')
    }
    node.retryStore()
    const { expired } = node.status()
    if (expired && !wasExpired) {
      log.error({}, 'the channel record has expired: no source has renewed it; answers go on')
    }
    wasExpired = expired
    try {
      store.collect()
    } catch (error) {
      log.warn({ err: error }, 'old bundles cannot be removed')
    }
  }, lookEveryMs)
  return () => clearInterval(timer)
}
