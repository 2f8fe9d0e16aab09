// Parts: the API, where it is on, and the licence, which counts with the API off as well.
import { randomBytes } from 'node:crypto'
import type { NodeAnycastStatus } from '#node/anycast/node-anycast.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { FleetSnapshot, GivenSnapshot } from '#api/metrics/snapshot.ts'
import type { AskingNode } from '#api/ports/bundles.ts'
import { foldName, parseName } from '#dns/name.ts'
import { hiddenBy } from '#zones/dynamic/hidden-names.ts'
import { textsChannel } from '#server/texts/texts-bundle.ts'
import type { HiddenBy } from '#state/ports/dynamic-dns.ts'
import { createNodeApi } from '#node/api/api.ts'
import type { NodeApi, NodeApiParts } from '#node/api/api.ts'
import { createNodeLicence } from '#node/compose/licence.ts'
import { missingGeoOn } from '#server/node/missing-geo.ts'
import { createNodeRum } from '#node/api/rum.ts'
import { PastAnswers } from '#node/past/past-answers.ts'
import { LiveSimulator } from '#node/simulate/live.ts'
import { withHostnames } from '#node/status/hostname-health.ts'
import { createMemberHealthView } from '#node/status/member-health-view.ts'
import { dataDirectorySnapshot } from '#node/data/disk-use.ts'
import { createDeliveriesView } from '#node/status/delivery-view.ts'
import { createSettingsView } from '#node/status/settings-view.ts'
import { RequestCounts } from '#api/http/request-counts.ts'
import { useGaps } from '#node/status/use-gaps.ts'
import { createOperatorView } from '#node/status/operator-view.ts'
import { ThreadLoad } from '#node/status/thread-load.ts'
import { AskedLooks } from '#gitops/sync/asked-looks.ts'
import { systemClock } from '#lib/clock.ts'
import type { BundleFeed, FeedCounts } from '#fleet/bundle-feed.ts'
import { systemAfter } from '#lib/timer.ts'
import { driftKinds } from '#fleet/drift.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import { readNodeWords } from '#fleet/words/node-words.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { channel } from './git.ts'
import { writerInCluster } from './commit-news.ts'
import { EffectWriter } from '#node/plan/effects.ts'
import { LivePlanner } from '#node/plan/live-plan.ts'
import { MovedGuard } from '#node/plan/moved-guard.ts'
import { moveLimitsOf } from '#compiler/lower/name-outline.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { MoveLimits } from '#compiler/lower/name-outline.ts'
import { listenerName } from '#system/sockets/handed-sockets.ts'
import type { Deps, Part } from './part.ts'

/** Made before it listens: what fails then is taken back by its own stop. */
export const createApi: Part = (deps) => {
  const load = new ThreadLoad(systemClock)
  const sampleLoad = (): void => load.sample(deps.node.counters().map(({ threadId }) => threadId))
  const busyRatio = (): number =>
    Math.max(0, ...deps.node.counters().map(({ threadId }) => load.busyRatio(threadId)))
  const both = { sampleLoad, busyRatio }
  if (!deps.settings.api.enabled) {
    return ok({ gives: { api: null, operatorView: null, apiPort: null, ...both } })
  }
  const looks = new AskedLooks({
    look: () => deps.gitops.poke(),
    clock: systemClock,
    after: systemAfter,
  })
  const parts = apiParts(deps, load, looks)
  const api = createNodeApi(parts)
  if (!api.ok) return api
  return ok({
    gives: { api: api.value, operatorView: parts.view, licence: api.value.licence, ...both },
    stop: () => {
      looks.close()
      return api.value.close()
    },
  })
}

export const listen: Part = async ({ api, before, settings }) => {
  if (api === null) return ok({})
  const { listenAddr, port } = settings.api
  const [handed] = before?.sockets.take(listenerName('api', listenAddr, port)) ?? []
  const listening = await api.listen(handed)
  return listening.ok ? ok({ gives: { apiPort: listening.value.port } }) : listening
}

export const lookAtLicence: Part = (deps) => {
  const created = deps.api === null ? licenceAlone(deps) : ok(deps.api.licence)
  if (!created.ok) return created
  const licence = created.value
  // Not waited for: making a database takes seconds.
  licence.refresh().catch((error: unknown) => {
    deps.log.error({ error: String(error) }, 'the licence cannot be looked at')
  })
  return ok({ gives: { licence } })
}

function licenceAlone(deps: Deps): ReturnType<typeof createNodeLicence> {
  const { settings, log, env, gitops, records, health, permit } = deps
  return createNodeLicence({
    settings: settings.license,
    env,
    state: records.state,
    config: gitops.config,
    health,
    clock: systemClock,
    log,
    onRate: permit,
    onAgents: gitops.permitAgents,
  })
}

const areChecksOff = ({ settings, health, node }: Deps): boolean =>
  settings.roles.includes('dns') && health === null && node.poolsWithHealthCheck() > 0

const missingGeoOf = ({ settings, node }: Deps): readonly string[] =>
  settings.roles.includes('dns') ? missingGeoOn(node) : []

function apiParts(deps: Deps, load: ThreadLoad, looks: AskedLooks): NodeApiParts {
  const { settings, log, env, node, gitops, health, shared, records, rum, permit } = deps
  const { dynamicDns, regressions, alerts, domains } = deps
  // Undefined while the API is being put together.
  const api = (): NodeApi | null | undefined => deps.api
  const requestCounts = new RequestCounts()
  const memberHealth = withHostnames(
    createMemberHealthView(health, settings.state.nodeName, systemClock),
    deps.resolver,
  )
  const view = createOperatorView({
    requestCounts: () => requestCounts.all(),
    geo: () => deps.geo.status(),
    ...{ node, nodeName: settings.state.nodeName },
    ...{ gitops, health },
    resolver: deps.resolver,
    ...{ updates: deps.updates, notifier: deps.notifier },
    shared: shared.status,
    redirects: () => ({
      listener: deps.redirects?.counts() ?? null,
      targets: deps.redirectPushes.status(),
    }),
    load,
    canKeep: () => deps.dataDir.fault() === null,
    ...{ isBackedUp: records.isBackedUp, backupAgeSeconds: records.backupAgeSeconds },
    dataDirectory: () => dataDirectoryOf(deps),
    journal: () => deps.journal?.status() ?? null,
    database: records.database,
    repository: () => deps.repacker.status(),
    ...{ given: () => givenBy(deps), fleet: () => fleetIn(deps) },
    alerts: () => alerts.keeper.status(),
    ...{ areChecksOff: () => areChecksOff(deps), missingGeo: () => missingGeoOf(deps) },
    anycast: () => anycastOf(deps),
    deliveryPhase: () => deps.delivery.keeper.view()?.state.phase ?? null,
    clock: systemClock,
    ...{ branch: settings.gitops.branch, hasRemote: settings.gitops.url !== '' },
    commitToActiveSeconds: deps.commitToActiveSeconds,
    queryLog: () => deps.queryLog?.counts() ?? null,
    feedClients: () => api()?.feedClients() ?? 0,
    isAudited: () => api()?.isAudited() ?? true,
    isSetupOpen: () => api()?.isSetupOpen() ?? false,
    licenceWarnings: () => api()?.licence.warnings() ?? [],
  })
  return {
    ...{ settings, log, view, requestCounts },
    useGaps: () => useGaps(settings, node.meter.objects()?.isTooMuch ?? false),
    config: gitops.config,
    configWriter: guardedWriterOf(deps),
    syncNow: () => looks.ask(),
    planner: livePlannerOf(deps),
    history: gitops.history,
    memberHealth,
    ...{ shared, records, bundles: bundlesOf(deps), deliveries: deliveriesOf(deps) },
    ...{ dynamicDns, hiddenBy: (name) => hiddenIn(node.bundle(), name) },
    hasTextsOfOthers: (tenant, name) => dynamicDns.texts.hasOthers(tenant, name),
    testAlert: alerts.send,
    overlays: {
      trip: regressions.trip,
      onRegression: regressions.onRegression,
      baselineRttMs: (uid) => node.overlayClock.baselineRttMs(uid),
    },
    simulator: simulatorOf(deps, memberHealth),
    past: pastOf(deps),
    clientRegions: () => deps.clientRegions?.counts() ?? null,
    ...{ domains, cluster: deps.cluster, anycast: { status: () => anycastOf(deps) } },
    nodeSettings: settingsViewOf(deps),
    rum: createNodeRum(rum, () => node.bundle()),
    ...{ env, onRate: permit, onAgents: gitops.permitAgents, health },
  }
}

/** The last part of a start, and the first of a stop. */
const anycastOf = ({ anycast }: Partial<Deps>): NodeAnycastStatus | null =>
  anycast?.status() ?? null

function settingsViewOf(deps: Deps): NodeApiParts['nodeSettings'] {
  return createSettingsView(
    () => deps.settings,
    () => deps.latestSettings,
  )
}

function simulatorOf(
  { node, gitops, health, settings }: Deps,
  memberHealth: NodeApiParts['memberHealth'],
): LiveSimulator {
  return new LiveSimulator({
    node: () => node.live(),
    nodeName: settings.state.nodeName,
    config: gitops.config,
    filesOf: gitops.history.filesOf,
    memberHealth,
    peers: () => health?.peers() ?? null,
    clock: systemClock,
  })
}

function pastOf({ dataDir, journal, geo, gitops, settings, records }: Deps): PastAnswers {
  const { persistent, exists } = records.state
  return new PastAnswers({
    copies: { journals: persistent.journals, exists },
    ...{ dataDir: dataDir.path, nodeName: settings.state.nodeName, journal, geo },
    ...{ config: gitops.config, clock: systemClock },
    isAnswering: settings.roles.includes('dns'),
  })
}

/** Looks at the parts when a request comes: a later part of the daemon brings them. */
function bundlesOf(deps: Deps): NodeApiParts['bundles'] {
  return {
    told: (report) => told(deps, report),
    heard: hearing(deps),
    journal: (part) => deps.journals.take(part),
    record: (channel, asking) => feedOf(deps, channel).record(channel, asking),
    shadowFor: (asking) => deps.delivery.keeper.shadowFor(asking),
    waitForOther: (channel, ...asked) => feedOf(deps, channel).waitForOther(...asked),
    open: (digest) => deps.bundleFiles.open(digest),
    openPacked: async (digest) => {
      const path = await deps.packedBundles.path(digest)
      return path === undefined ? undefined : deps.bundleFiles.openPath(path)
    },
    delta: (from, to) => deps.bundleDeltas.get(from, to),
  }
}

const feedOf = ({ bundleFeed, textsFeed }: Deps, asked: string): BundleFeed =>
  asked === textsChannel(channel) ? textsFeed : bundleFeed

function guardedWriterOf(deps: Deps): MovedGuard {
  const limits = (): MoveLimits => moveLimitsIn(deps)
  const config = (): ConfigSnapshot => deps.gitops.config.snapshot()
  const writer = writerOf(deps)
  return new MovedGuard({
    ...{ writer, limits, config, movedFrom: writer.movedFrom },
    ...{ log: deps.log, clock: systemClock },
  })
}

function livePlannerOf(deps: Deps): LivePlanner {
  const moveLimits = (): MoveLimits => moveLimitsIn(deps)
  return new LivePlanner({ node: () => deps.node.live(), clock: systemClock, moveLimits })
}

function moveLimitsIn({ gitops }: Deps): MoveLimits {
  const [settings] = gitops.config.snapshot().list('Settings')
  return moveLimitsOf(settings?.object.spec.guardrails)
}

function writerOf(deps: Deps): EffectWriter {
  const { node } = deps
  return new EffectWriter({
    writer: writerInCluster(deps),
    node: () => node.live(),
    clock: systemClock,
  })
}

/** What an agent without Redis finds goes to all nodes as from any other. */
function hearing({ shared, settings, log }: Deps): NodeApiParts['bundles']['heard'] {
  const instance = randomBytes(8).toString('hex')
  return async (value) => {
    const words = readNodeWords(value, systemClock.nowMs(), settings.state.nodeName)
    if (!words.ok) return words
    try {
      await shared.peerHealth.publish(words.value)
    } catch (error) {
      log.warn({ err: error }, 'what an agent has found cannot be told to the other nodes')
      return err(null)
    }
    return ok({ instance })
  }
}

/** One that does not count, or does not fit in, is served all the same, as one without a name. */
function told({ inventory, log }: Deps, value: unknown): Result<AskingNode | undefined, string> {
  const report = readNodeReport(value)
  if (!report.ok) return report
  inventory.report(report.value, value as object)
  const counted = inventory.counted(report.value, value as object)
  if (counted === undefined) {
    sayStrange(report.value.name, log)
    return ok(undefined)
  }
  const { name, labels } = counted
  return ok({ name, labels })
}

const dataDirectoryOf = ({ settings, dataDir, node }: Deps) =>
  dataDirectorySnapshot(settings.dataDir, dataDir.fault(), node.status())

const strange = new Set<string>()
const strangeMax = 100

/** Once each, for names that anybody may invent. */
function sayStrange(node: string, log: Deps['log']): void {
  if (strange.has(node) || strange.size >= strangeMax) return
  strange.add(node)
  const what = 'a node tells of itself that is not listed, or has not signed it: it counts nowhere'
  log.warn({ node }, `${what}; "gslbd node add" makes its credential`)
}

const deliveriesOf = (deps: Deps): NodeApiParts['deliveries'] =>
  createDeliveriesView(
    channel,
    () => deps.delivery.keeper,
    () => deps.delivery.promised(),
  )

function fleetIn(deps: Deps): FleetSnapshot {
  const nodes = deps.drifted()
  const drift = Object.fromEntries(
    driftKinds.map((kind) => [kind, nodes.filter((one) => one.drift.includes(kind)).length]),
  )
  const [delivery = null] = deliveriesOf(deps).list()
  const counted = nodes.filter(({ isCounted }) => isCounted).length
  return { nodes: counted, strangers: nodes.length - counted, drift, delivery }
}

function givenBy({ bundleFeed, textsFeed, bundleFiles }: Deps): GivenSnapshot {
  const feeds = [bundleFeed.counts(), textsFeed.counts()]
  const files = bundleFiles.counts()
  const sum = (key: keyof FeedCounts): number => feeds.reduce((all, feed) => all + feed[key], 0)
  const turnedAway = sum('turnedAway') + files.turnedAway
  return { waiting: sum('waiting'), sending: files.open, turnedAway }
}

function hiddenIn(bundle: Bundle | undefined, text: string): HiddenBy | undefined {
  const name = parseName(text)
  return bundle === undefined || !name.ok ? undefined : hiddenBy(bundle, foldName(name.value))
}
