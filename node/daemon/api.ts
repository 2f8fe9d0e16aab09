// Parts: the API, where it is on, and the licence, which is counted with the API off as well.
import { randomBytes } from 'node:crypto'
import type { NodeAnycastStatus } from '#node/anycast/node-anycast.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { FleetSnapshot, GivenSnapshot } from '#metrics/snapshot.ts'
import type { AskingNode } from '#ports/bundles.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { foldName, parseName } from '#dns/name.ts'
import { whyUnseen } from '#zones/dynamic/written-bundle.ts'
import { textsChannel } from '#server/texts/texts-bundle.ts'
import type { HiddenBy } from '#state/ports/dynamic-dns.ts'
import { createNodeApi } from '#node/api/api.ts'
import type { NodeApi, NodeApiParts } from '#node/api/api.ts'
import { updateTypesOf } from '#node/compose/transfers.ts'
import { createNodeLicence } from '#node/compose/licence.ts'
import { absentOn } from '#node/status/health-reasons.ts'
import { missingGeoOn } from '#server/node/missing-geo.ts'
import { createNodeRum } from '#node/api/rum.ts'
import { PastAnswers } from '#questions/past/past-answers.ts'
import { LiveSimulator } from '#questions/simulate/live.ts'
import { withHostnames } from '#node/status/hostname-health.ts'
import { createMemberHealthView } from '#node/status/member-health-view.ts'
import { dataDirectorySnapshot, faultOfDisk } from '#process/data/disk-use.ts'
import { createDeliveriesView } from '#node/status/delivery-view.ts'
import { createSettingsView } from '#node/status/settings-view.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { useGaps } from '#node/status/use-gaps.ts'
import { createOperatorView } from '#node/status/operator-view.ts'
import { ThreadLoad } from '#node/status/thread-load.ts'
import { AskedLooks } from '#gitops/sync/asked-looks.ts'
import { systemClock } from '#lib/clock.ts'
import type { BundleFeed, FeedCounts } from '#fleet/bundle-feed.ts'
import { systemAfter } from '#lib/timer.ts'
import { driftKinds } from '#fleet/drift.ts'
import { uncountedLine } from '#fleet/nodes/credentials.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { readAgentReport } from '#fleet/agent/agent-report.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { channel } from './git.ts'
import { writerInCluster } from './commit-news.ts'
import { LivePlanner } from '#questions/plan/live-plan.ts'
import { JudgingWriter } from '#questions/plan/judging-writer.ts'
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import { listenerName } from '#system/sockets/handed-sockets.ts'
import { givingKeys } from '#node/signing/give-keys.ts'
import { createAcmeDns } from '#integrations/acme/acme-dns.ts'
import { createApiTls } from '#node/certificates/api-tls.ts'
import type { NodeApiTls } from '#node/certificates/api-tls.ts'
import { behindOf, givingCertificate } from '#node/certificates/give-certificate.ts'
import { createCertificatesView } from '#node/certificates/certificates-view.ts'
import { dnssecZonesOf, signedZonesOf } from '#config/signed-zones.ts'
import { createZoneKeysAdmin } from '#node/signing/zone-keys-admin.ts'
import { createZonePushView, pushSnapshots } from '#node/zone-push/zone-push-view.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { BundleOutput, Has, Later, NodeOutput } from '#node/parts/part-outputs.ts'

type OfState = 'dataDir' | 'key' | 'shared' | 'records' | 'dynamicDns' | 'journals' | 'certificates'
type OfKeys = 'keyVault' | 'keyKeeper' | 'behindNodes' | 'signing' | 'domains'
type OfNode =
  Exclude<NodeOutput, 'store' | 'geoFeed' | 'rateLimit'> | 'redirects' | 'redirectPushes'
type OfGit = 'gitops' | 'repacker' | 'commitToActiveSeconds' | 'commitNews' | 'telemetry'
type OfFleet = 'cluster' | 'inventory' | 'drifted' | 'delivery' | 'zonePushes' | 'alerts'
type Needs = Given & Has<OfState | OfKeys | OfNode | OfGit | OfFleet | 'regressions'>
type ApiOutput = 'api' | 'operatorView' | 'sampleLoad' | 'busyRatio'
type BundleOutputs = Has<BundleOutput>
type Passed = NodeApiParts['passed']

/** Created before it listens: its own stop takes back what fails from here on. */
export const createApi = (have: Needs): Outcome<Has<ApiOutput>> => {
  const load = new ThreadLoad(systemClock)
  const sampleLoad = (): void => load.sample(have.node.counters().map(({ threadId }) => threadId))
  const busyRatio = (): number =>
    Math.max(0, ...have.node.counters().map(({ threadId }) => load.busyRatio(threadId)))
  const both = { sampleLoad, busyRatio }
  if (!have.settings.api.enabled) {
    return ok({ gives: { api: null, operatorView: null, ...both } })
  }
  const looks = new AskedLooks({
    look: () => have.gitops.poke(),
    clock: systemClock,
    after: systemAfter,
  })
  const { settings, log } = have
  const given = have.certificates?.given ?? null
  const tls = createApiTls(settings.api, given, log, systemClock.nowMs)
  if (!tls.ok) return tls
  const parts = apiParts(have, { load, looks, tls: tls.value })
  const api = createNodeApi(parts)
  if (!api.ok) return api
  return ok({
    gives: { api: api.value, operatorView: parts.passed.view, ...both },
    stop: () => {
      looks.close()
      tls.value?.close()
      return api.value.close()
    },
  })
}

export const listen = async (have: Given & Has<'api'>): Promise<Outcome<Has<'apiPort'>>> => {
  const { api, before, settings } = have
  if (api === null) return ok({ gives: { apiPort: null } })
  const { listenAddr, port } = settings.api
  const [handed] = before?.sockets.take(listenerName('api', listenAddr, port)) ?? []
  const listening = await api.listen(handed)
  if (!listening.ok) return listening
  const webhook = await listenToExternalDns(have, api)
  return webhook.ok ? ok({ gives: { apiPort: listening.value.port } }) : webhook
}

async function listenToExternalDns(
  { before, settings }: Given,
  { externalDns }: NodeApi,
): Promise<Result<null, string>> {
  if (externalDns === null) return ok(null)
  const { listenAddr, port } = settings.externalDns
  const name = listenerName('external-dns', listenAddr, port)
  const [handed] = before?.sockets.take(name) ?? []
  const listening = await externalDns.listen(handed)
  return listening.ok ? ok(null) : listening
}

type OfLicence = Given & Has<'records' | 'health' | 'permit' | 'gitops'>

export const lookAtLicence = (have: OfLicence & Has<'api'>): Outcome<Has<'licence'>> => {
  const created = have.api === null ? licenceAlone(have) : ok(have.api.licence)
  if (!created.ok) return created
  const licence = created.value
  // Not awaited: making a database takes seconds.
  licence.refresh().catch((error: unknown) => {
    have.log.error({ error: String(error) }, 'the licence cannot be checked')
  })
  return ok({ gives: { licence } })
}

function licenceAlone(have: OfLicence): ReturnType<typeof createNodeLicence> {
  const { settings, log, env, gitops, records, health, permit } = have
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

const certificatesOf = ({ node }: Needs, tls: NodeApiTls | null) => [
  ...(node.tcpStats?.secure?.certificates ?? []),
  ...(tls?.status() ?? []),
]

const acmeDnsOf = ({ settings, records, dynamicDns }: Needs): Passed['acmeDns'] =>
  createAcmeDns({
    ...{ settings: settings.acmeDns, store: records.state.atOnce.acmeDns, dynamicDns },
    clock: systemClock,
  })

const shownBy = ({ settings, certificates, later }: Needs): Passed['certificates'] =>
  createCertificatesView(settings, certificates?.vault ?? null, () => later.acme ?? undefined)

const areChecksOff = ({ settings, health, node }: Needs): boolean =>
  settings.roles.includes('dns') && health === null && node.poolsWithHealthCheck() > 0

const missingGeoOf = ({ settings, node }: Needs): readonly string[] =>
  settings.roles.includes('dns') ? missingGeoOn(node) : []

const zoneView = ({ settings, signing, keyVault, domains, behindNodes, ...have }: Needs) => ({
  absentZones: () => absentOn(have.node),
  zoneTransfers: () => have.later.inbound?.status() ?? [],
  certificateBehind: () => behindOf(have.certificates?.vault ?? null, have.inventory, systemClock),
  missingKeys: () => (settings.roles.includes('dns') ? signing.missing() : []),
  newestKeyMs: () => newestMs(keyVault.vault?.keys() ?? new Map()),
  keyTroubles: () => keyVault.vault?.troubles() ?? [],
  dsFaults: () => [...domains.dsFaults().values()],
  behindNodes: () => (keyVault.vault === null ? [] : behindNodes.notable()),
})

function newestMs(keys: ReadonlyMap<string, readonly KeyRecord[]>): number {
  let newest = 0
  for (const records of keys.values()) {
    for (const { times } of records) newest = Math.max(newest, times.createdMs ?? 0)
  }
  return newest
}

const writesIn = ({ telemetry }: Needs) => ({
  writeTimes: () => telemetry.times(),
  spans: () => telemetry.counts(),
})

interface Own {
  readonly load: ThreadLoad
  readonly looks: AskedLooks
  readonly tls: NodeApiTls | null
}

function apiParts(have: Needs, { load, looks, tls }: Own): NodeApiParts {
  const { settings, log, env, node, gitops, health, shared, records, rum, permit } = have
  const { dynamicDns, regressions, alerts, domains } = have
  const api = (): NodeApi | null | undefined => have.later.api
  const requestCounts = new RequestCounts()
  const memberHealth = withHostnames(
    createMemberHealthView(health, settings.state.nodeName, systemClock),
    have.resolver,
  )
  const view = createOperatorView({
    requestCounts: () => requestCounts.all(),
    ...writesIn(have),
    geo: () => have.geo.status(),
    ...{ node, nodeName: settings.state.nodeName, gitops, health, resolver: have.resolver },
    ...{ updates: have.updates, notifier: have.notifier, shared: shared.status },
    ...{ inbound: () => have.later.inbound?.status() ?? [], load },
    redirects: () => ({
      listener: have.redirects?.counts() ?? null,
      targets: have.redirectPushes.status(),
    }),
    zonePushes: () => pushSnapshots(have.zonePushes),
    canKeep: () => have.dataDir.fault() === null,
    ...{ isBackedUp: records.isBackedUp, backupAgeSeconds: records.backupAgeSeconds },
    dataDirectory: () => dataDirectoryOf(have),
    ...{ journal: () => have.journal?.status() ?? null, database: records.database },
    repository: () => have.repacker.status(),
    ...{ given: () => givenBy(bundlesIn(have.later)), fleet: () => fleetIn(have) },
    alerts: () => alerts.keeper.status(),
    ...{ areChecksOff: () => areChecksOff(have), missingGeo: () => missingGeoOf(have) },
    ...zoneView(have),
    anycast: () => anycastOf(have.later),
    certificates: () => certificatesOf(have, tls),
    deliveryPhase: () => have.delivery.keeper.view()?.state.phase ?? null,
    deliveryFault: () => have.delivery.keeper.view()?.fault ?? '',
    clock: systemClock,
    ...{ branch: settings.gitops.branch, hasRemote: settings.gitops.url !== '' },
    commitToActiveSeconds: have.commitToActiveSeconds,
    queryLog: () => have.queryLog?.counts() ?? null,
    feedClients: () => api()?.feedClients() ?? 0,
    isAudited: () => api()?.isAudited() ?? true,
    isSetupOpen: () => api()?.isSetupOpen() ?? false,
    licenceWarnings: () => api()?.licence.warnings() ?? [],
  })
  return {
    ...{ settings, log, shared, records, tls },
    passed: {
      ...{ view, requestCounts, requestTimes: have.telemetry, memberHealth, dynamicDns, domains },
      ...{ config: gitops.config, history: gitops.history, syncNow: () => looks.ask() },
      ...{ bundles: bundlesOf(have), deliveries: deliveriesOf(have), testAlert: alerts.send },
      hiddenBy: (name, type) => hiddenIn(node.bundle(), name, type),
      hasTextsOfOthers: (tenant, name) => dynamicDns.texts.hasOthers(tenant, name),
      ...{ zoneKeys: zoneKeysOf(have), certificates: shownBy(have), acmeDns: acmeDnsOf(have) },
      overlays: {
        trip: regressions.trip,
        onRegression: regressions.onRegression,
        baselineRttMs: (uid) => node.overlayClock.baselineRttMs(uid),
      },
      ...{ zonePushes: createZonePushView(have.zonePushes, systemClock), cluster: have.cluster },
      anycast: { status: () => anycastOf(have.later) },
      ...{ nodeSettings: settingsViewOf(have), discovery: have.discovery },
      zoneTransfers: zoneTransfersOf(have.later),
      rum: createNodeRum(rum, () => node.bundle()),
    },
    useGaps: () => useGaps(settings, node.meter.objects()?.isTooMuch ?? false),
    ...{ configWriter: judgingWriterOf(have), planner: livePlannerOf(have), past: pastOf(have) },
    simulator: simulatorOf(have, memberHealth),
    clientRegions: () => have.clientRegions?.counts() ?? null,
    ...{ env, onRate: permit, onAgents: gitops.permitAgents, health },
  }
}

/** The announcement is the last part to start, and the first to stop. */
const anycastOf = ({ anycast }: Later): NodeAnycastStatus | null => anycast?.status() ?? null

const zoneTransfersOf = (later: Later): Passed['zoneTransfers'] => ({
  list: () => later.inbound?.status() ?? [],
  accept: async (zone, reason) => await later.inbound?.accept(zone, reason),
})

function settingsViewOf(have: Needs): Passed['nodeSettings'] {
  return createSettingsView(
    () => have.settings,
    () => have.latestSettings,
  )
}

function simulatorOf(
  { node, gitops, health, settings }: Needs,
  memberHealth: Passed['memberHealth'],
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

function pastOf(have: Needs): PastAnswers {
  const { dataDir, journal, geo, gitops, settings, records, dynamicDns } = have
  const { persistent, exists } = records.state
  return new PastAnswers({
    copies: { journals: persistent.journals, exists },
    ...{ dataDir: dataDir.path, nodeName: settings.state.nodeName, journal, geo },
    ...{ config: gitops.config, clock: systemClock },
    isAnswering: settings.roles.includes('dns'),
    writtenTypes: [...updateTypesOf(settings.dns)],
    writtenAt: (name) => dynamicDns.texts.recordsAt(name),
  })
}

/** A later part provides the bundles, before the API listens. */
function bundlesIn(later: Later): BundleOutputs {
  const { bundleFeed, textsFeed, textsDigest, bundleFiles, bundleDeltas, packedBundles } = later
  assert(bundleFeed !== undefined && textsFeed !== undefined, 'bundles are given before a request')
  assert(bundleFiles !== undefined && bundleDeltas !== undefined, 'their files are there, too')
  assert(packedBundles !== undefined, 'and so are the packed ones')
  assert(textsDigest !== undefined, 'and what tells TXT records apart')
  return { bundleFeed, textsFeed, textsDigest, bundleFiles, bundleDeltas, packedBundles }
}

function bundlesOf(have: Needs): Passed['bundles'] {
  const given = (): BundleOutputs => bundlesIn(have.later)
  return {
    takeReport: (report) => takeReport(have, report),
    heard: hearing(have),
    journal: (part) => have.journals.take(part),
    keys: givingKeys({
      vault: have.keyVault.vault,
      inventory: have.inventory,
      key: have.key.signing,
    }),
    certificate: givingCertificate({
      ...{ vault: have.certificates?.vault ?? null, inventory: have.inventory },
      entries: have.settings.acme.certificates,
      ...{ key: have.key.signing, clock: systemClock },
    }),
    record: (channel, asking) => feedOf(given(), channel).record(channel, asking),
    shadowFor: (asking) => have.delivery.keeper.shadowFor(asking),
    waitForOther: (channel, ...asked) => feedOf(given(), channel).waitForOther(...asked),
    open: (digest) => given().bundleFiles.open(digest),
    openPacked: async (digest) => {
      const path = await given().packedBundles.path(digest)
      return path === undefined ? undefined : given().bundleFiles.openPath(path)
    },
    delta: (from, to) => given().bundleDeltas.get(from, to),
  }
}

const feedOf = ({ bundleFeed, textsFeed }: BundleOutputs, asked: string): BundleFeed =>
  asked === textsChannel(channel) ? textsFeed : bundleFeed

function zoneKeysOf({ keyVault, keyKeeper, gitops }: Needs): Passed['zoneKeys'] {
  return createZoneKeysAdmin({
    vault: keyVault.vault,
    keeper: () => keyKeeper,
    signed: () => signedZonesOf(gitops.config).map(({ name }) => name),
    isListed: (zone) =>
      dnssecZonesOf(gitops.config).some(
        ({ name, dnssec }) => name === zone && dnssec.dnskeys !== undefined,
      ),
    clock: systemClock,
  })
}

function judgingWriterOf(have: Needs): JudgingWriter {
  return new JudgingWriter({
    writer: writerInCluster(have.telemetry.noting(have.gitops), have),
    limits: () => moveLimitsIn(have),
    node: () => have.node.live(),
    log: have.log,
    clock: systemClock,
  })
}

function livePlannerOf(have: Needs): LivePlanner {
  const moveLimits = (): MoveLimits => moveLimitsIn(have)
  return new LivePlanner({ node: () => have.node.live(), clock: systemClock, moveLimits })
}

function moveLimitsIn({ gitops }: Needs): MoveLimits {
  const [settings] = gitops.config.snapshot().list('Settings')
  return settings?.object.spec.guardrails
}

/** Findings of an agent without Redis are passed to all nodes. */
function hearing({ shared, settings, log }: Needs): Passed['bundles']['heard'] {
  const instance = randomBytes(8).toString('hex')
  return async (value) => {
    const words = readAgentReport(value, systemClock.nowMs(), settings.state.nodeName)
    if (!words.ok) return words
    try {
      await shared.peerHealth.publish(words.value)
    } catch (error) {
      log.warn({ err: error }, 'the verdict of an agent cannot be sent to the other nodes')
      return err(null)
    }
    return ok({ instance })
  }
}

/** A node that does not count, or for which there is no room, is served as one without a name. */
function takeReport(
  { inventory, telemetry, log }: Needs,
  value: unknown,
): Result<AskingNode | undefined, string> {
  const report = readNodeReport(value)
  if (!report.ok) return report
  inventory.report(report.value, value as object)
  const counted = inventory.counted(report.value, value as object)
  if (counted === undefined) {
    logUnlistedNode(report.value, log)
    return ok(undefined)
  }
  telemetry.heard(counted)
  const { name, labels } = counted
  return ok({ name, labels })
}

const dataDirectoryOf = ({ settings, dataDir, node, gitops }: Needs) =>
  dataDirectorySnapshot(
    settings.dataDir,
    faultOfDisk(dataDir.fault(), gitops.status()),
    node.status(),
  )

const strange = new Set<string>()
const strangeMax = 100

/** Logs each name once, and a limited number: anybody may invent names. */
function logUnlistedNode({ name: node, sentAtMs }: NodeReport, log: Given['log']): void {
  if (strange.has(node) || strange.size >= strangeMax) return
  strange.add(node)
  log.warn({ node }, uncountedLine(sentAtMs - systemClock.nowMs()))
}

const deliveriesOf = (have: Needs): Passed['deliveries'] =>
  createDeliveriesView(
    channel,
    () => have.delivery.keeper,
    () => have.delivery.promised(),
  )

function fleetIn(have: Needs): FleetSnapshot {
  const nodes = have.drifted()
  const drift = Object.fromEntries(
    driftKinds.map((kind) => [kind, nodes.filter((one) => one.drift.includes(kind)).length]),
  )
  const [delivery = null] = deliveriesOf(have).list()
  const counted = nodes.filter(({ isCounted }) => isCounted).length
  return { nodes: counted, strangers: nodes.length - counted, drift, delivery }
}

function givenBy({ bundleFeed, textsFeed, bundleFiles }: BundleOutputs): GivenSnapshot {
  const feeds = [bundleFeed.counts(), textsFeed.counts()]
  const files = bundleFiles.counts()
  const sum = (key: keyof FeedCounts): number => feeds.reduce((all, feed) => all + feed[key], 0)
  const turnedAway = sum('turnedAway') + files.turnedAway
  return { waiting: sum('waiting'), sending: files.open, turnedAway }
}

function hiddenIn(bundle: Bundle | undefined, text: string, type: number): HiddenBy | undefined {
  const name = parseName(text)
  return bundle === undefined || !name.ok
    ? undefined
    : whyUnseen(bundle, foldName(name.value), type)
}
