// Starts the whole daemon: lists its parts, starts them in order, and stops them in reverse; the
// answering part stops last.
import type { Server } from 'node:net'
import { assert } from '#lib/assert.ts'
import { changedSettings, reloadedSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { endPatienceMs, endWithin } from '#process/end-now.ts'
import { believeOwnKey, lostKey, unbelievedKey } from '#process/data/own-key.ts'
import { portClash, withoutEffect } from '#node/compose/clashing-settings.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { descriptorOf, listenerName } from '#system/sockets/handed-sockets.ts'
import type { ListenerSockets } from '#system/sockets/handed-sockets.ts'
import { keepThreadsSmall } from '#system/worker/release-memory.ts'
import { holdDataDir, openKey, prepareDataDir, takeOver } from './data-directory.ts'
import { createNode, openCookies, openSockets, readGeoTables } from './dns.ts'
import { createRegressions } from './overlays.ts'
import { startCalledOff, logCalledOff, whenCalledOff } from '#process/data/called-off.ts'
import { PartChain, stopParts } from '#node/parts/part.ts'
import type { Given, NodeStart, Stops } from '#node/parts/part.ts'
import type { Has, Later } from '#node/parts/part-outputs.ts'
import type { Daemon } from '#process/replace/daemon.ts'
import { WriteGate } from '#process/data/predecessor.ts'
import { createRedirects, openRedirects } from './redirects.ts'
import {
  keepCertificates,
  keepDynamicDns,
  keepJournals,
  keepRecords,
  keepZoneKeys,
  openSharedState,
} from './state.ts'

const stopped = 'gslbd has stopped'

/** Starts everything, or nothing. Errors: a sentence for the operator. */
export type StartNode = (start: NodeStart) => Promise<Result<Daemon, string>>

/** Only opens things: nothing runs yet, and the caller reports failures. */
const opening = (chain: PartChain<Given>): PartChain<Opened> =>
  chain.with(holdDataDir).with(prepareDataDir).with(openKey).with(openSharedState)

type Opened = Given & Has<'dataDir' | 'key' | 'shared'>

/** The parts that are needed to answer from the stored bundle. */
const answering = (chain: PartChain<Opened>) =>
  chain
    .with(keepRecords)
    .with(keepDynamicDns)
    .with(keepZoneKeys)
    .with(keepCertificates)
    .with(keepJournals)
    .with(createRegressions)
    .with(createRedirects)
    .with(openCookies)
    .with(createNode)
    .with(readGeoTables)
    .with(openSockets)
    .with(openRedirects)
    .with(takeOver)

/** Checks the node's own key before anything starts. */
export const startWholeNode: StartNode = (start) => {
  const { settings, log } = start
  const prepare = async (): Promise<Result<null, string>> => {
    const lost = lostKey(settings)
    if (lost !== undefined) log.error({}, lost)
    const believed = believeOwnKey(settings)
    const warning = believed.ok ? unbelievedKey(settings, systemClock) : undefined
    if (warning !== undefined) log.warn({}, warning)
    for (const sentence of withoutEffect(settings)) log.warn({}, sentence)
    return believed
  }
  // Saves 7 MiB at rest; writes take as long.
  keepThreadsSmall()
  return startDaemon(start, prepare)
}

/**
 * Starts everything, or nothing. Errors: a sentence for the operator.
 *
 * @param prepare called when the data directory is held, before anything reads it
 */
export async function startDaemon(
  start: NodeStart,
  prepare: Given['prepare'],
): Promise<Result<Daemon, string>> {
  const { settings, log } = start
  const clash = portClash(settings)
  if (clash !== undefined) return err(clash)
  const later: Later = {}
  const given: Given = {
    ...{ ...start, latestSettings: settings, prepare },
    ...{ gate: new WriteGate(), isReplaced: false, later },
  }
  const stops: Stops = { first: [], last: [] }
  const opened = await opening(new PartChain(Promise.resolve(ok(given)), stops)).started
  if (!opened.ok) {
    const isCalledOff = opened.error === startCalledOff
    if (isCalledOff) logCalledOff(log, start.calledOff)
    await stopParts(stops.first)
    if (isCalledOff) log.info({}, stopped)
    return opened
  }
  const stop = async (): Promise<void> => {
    // Threads that are still starting would only delay the stop of the others.
    later.node?.callOffStarts()
    given.gate.giveUp()
    await stopParts(stops.first)
    await stopParts(stops.last.reverse())
    if (!given.isReplaced) log.info({}, stopped)
  }
  const started = await startRunning(opened.value, stops)
  if (!started.ok) {
    // The signal that called the start off sets the exit code itself.
    if (started.error === startCalledOff) logCalledOff(log, start.calledOff)
    else {
      log.error({}, started.error)
      endWithin(endPatienceMs, log)
    }
    await stop()
    return started
  }
  const running = started.value
  await reportRunning(running)
  return ok({
    dnsPort: running.dnsPort,
    apiPort: running.apiPort,
    reload: (next) => reload(running, next),
    sockets: () => socketsOf(running),
    isServing: () => running.node.status().active !== null,
    letGo: async () => {
      assert(!running.isReplaced, 'a process lets go once')
      running.isReplaced = true
      await stopParts(stops.first)
    },
    stop,
    isRestarting: running.isRestarting,
  })
}

/** The code of the other parts is loaded when answers are already given. */
async function startRunning(opened: Opened, stops: Stops) {
  const answers = answering(new PartChain(Promise.resolve(ok(opened)), stops))
  const answered = await answers.started
  if (!answered.ok) return answered
  const { following } = await import('./after-dns.ts')
  return following(answers).started
}

type OfAnswers = 'node' | 'redirects' | 'cookies' | 'rateLimit'
type Running = Given & Has<OfAnswers | 'gitops' | 'api'>

function socketsOf({ settings, node, redirects, api }: Running): readonly ListenerSockets[] {
  const { listenAddr, port } = settings.api
  const ofApi = { name: listenerName('api', listenAddr, port), descriptors: openIn(api?.server) }
  const webhook = settings.externalDns
  const ofExternalDns = {
    name: listenerName('external-dns', webhook.listenAddr, webhook.port),
    descriptors: openIn(api?.externalDns?.server),
  }
  return [...node.sockets(), ...(redirects?.sockets() ?? []), ofApi, ofExternalDns]
}

function openIn(server: Server | undefined): readonly number[] {
  const descriptor = server === undefined ? undefined : descriptorOf(server)
  return descriptor === undefined ? [] : [descriptor]
}

async function reportRunning(running: Running & Has<'dnsPort' | 'apiPort'>): Promise<void> {
  const { settings, log, gitops, dnsPort, apiPort, api, calledOff } = running
  assert(settings.api.enabled === (api !== null), 'the API is there where the settings have it')
  assert(
    settings.roles.includes('dns') === (dnsPort !== null),
    'a node of the role dns has its port',
  )
  if (settings.api.enabled) await Promise.race([gitops.firstLook(), whenCalledOff(calledOff)])
  if (calledOff?.aborted === true) return
  const { roles, dns } = settings
  const { listenAddr, threads } = dns
  const said = dnsPort === null ? { roles, port: null } : { listenAddr, port: dnsPort, threads }
  log.info({ ...said, apiPort }, 'gslbd is running')
}

async function reload(running: Running & Has<'licence'>, next: Settings): Promise<void> {
  const { log, licence, gitops } = running
  const { applied, needRestart } = changedSettings(running.settings, next)
  if (needRestart.length > 0) {
    log.warn({ settings: needRestart }, 'these settings change only with a restart')
  }
  running.settings = reloadedSettings(running.settings, next)
  running.latestSettings = next
  const { logging, license, gitops: followed } = running.settings
  const { pollMs, allowedSigners } = followed
  log.setLevel(logging.level)
  running.redirects?.reopenLog()
  running.rateLimit?.reload(running.settings)
  running.cookies.reread()
  if (applied.some((setting) => setting.startsWith('license.'))) await licence.reload(license)
  if (applied.some((setting) => setting.startsWith('gitops.'))) {
    const { keepPushCheck } = await import('./git.ts')
    keepPushCheck(running.settings, log)
    await gitops.reload({ pollMs, allowedSignersPath: allowedSigners })
  } else {
    gitops.poke()
  }
  log.info({ applied }, 'settings reloaded')
}
