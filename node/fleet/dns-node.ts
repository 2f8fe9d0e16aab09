// Runs a node of the role dns alone: it answers from bundles that it pulls, without Git, compiler,
// SQL and API.
import { randomBytes, randomInt } from 'node:crypto'
import { announceNode } from '#node/anycast/node-anycast.ts'
import type { NodeAnycast } from '#node/anycast/node-anycast.ts'
import type { TrustedKey } from '#bundle/signature/channel.ts'
import { takeOverFrom } from '#process/data/predecessor.ts'
import type { Predecessor } from '#process/data/predecessor.ts'
import { startQueryLog, stopAnswering } from '#node/journal/start-query-log.ts'
import { createGeo, threadsOf } from '#node/compose/dns.ts'
import { startCookies } from '#node/compose/cookies.ts'
import type { NodeCookies } from '#node/compose/cookies.ts'
import { createRateLimit } from '#node/compose/rate-limit.ts'
import { createRedirectListener, openRedirectListener } from '#node/compose/redirects.ts'
import { createNodeHealth } from '#node/compose/health.ts'
import { openPulledKeys, pullKeys } from '#node/signing/pull-keys.ts'
import type { KeysPulled } from '#node/signing/pull-keys.ts'
import type { KeyPuller } from '#fleet/keys/key-puller.ts'
import { certifyRedirects, givenBy } from '#node/certificates/given-certificate.ts'
import { openPulledCertificate, pullCertificate } from '#node/certificates/pulled-certificate.ts'
import type { PulledCertificate } from '#node/certificates/pulled-certificate.ts'
import { createZoneKeys } from '#node/signing/zone-keys.ts'
import { createAddressSources, readsFleet } from '#node/compose/discovery.ts'
import type { StartNode } from '#node/daemon/daemon.ts'
import type { NodeStart } from '#node/parts/part.ts'
import type { Settings } from '#settings/settings.ts'
import { createNodeJournal } from '#node/journal/node-journal.ts'
import { nodeReport } from '#node/status/node-report.ts'
import type { ReportParts, ShadowReport } from '#node/status/node-report.ts'
import { ThreadLoad } from '#node/status/thread-load.ts'
import type { Io } from '#system/process/command.ts'
import type { ProcessLog } from '#process/log.ts'
import type { Pulled } from '#fleet/puller.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { isLoopbackName } from '#lib/loopback.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { releaseMemory } from '#system/worker/release-memory.ts'
import { systemAfter } from '#lib/timer.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { LatencyWindow } from '#answer/counters/latency-window.ts'
import { DnsNode } from '#server/node/node.ts'
import type { DnsNodeParts } from '#server/node/node-parts.ts'
import { QuerySamples } from '#answer/samples/query-samples.ts'
import { transfersOf } from '#node/compose/transfers.ts'
import type { PulledKeys } from '#server/signing/pulled-keys.ts'
import { PulledTexts } from '#server/texts/pulled-texts.ts'
import { textsDirectory } from '#server/texts/texts-bundle.ts'
import { MemoryReleases } from '#lib/memory/memory-releases.ts'
import { startJournalSender } from './journal-copy.ts'
import { codesOf } from './pulled-health.ts'
import type { PulledNode } from './pulled-node.ts'
import { Pullers } from './pullers.ts'
import { createShadow } from './shadow.ts'
import { beginPulling, openPulled, sealing, startPulled } from './start-pulled.ts'
import type { Run, StartedNode } from './start-pulled.ts'
import { ZoneExchange } from './zone-exchange.ts'

const onTheClock = { clock: systemClock, after: systemAfter } as const

export const startDnsNode: StartNode = (given) => {
  const { listenAddr, threads } = given.settings.dns
  return startPulled(given, start, { listenAddr, threads, roles: ['dns'] })
}

async function start(given: NodeStart, run: Run): Promise<Result<StartedNode, string>> {
  const { settings, log, env, before, createThreads } = given
  const stops = run.stops.first
  const open = openPulled(given, run)
  if (!open.ok) return open
  const { token, nodeKey, keys: bundleKeys, dataDir, shared } = open.value
  warnOfUnused(settings, token, log)
  const { trusted } = bundleKeys
  const { path: dirPath } = dataDir
  const [store, textsStore] = [new BundleStore(dirPath), new BundleStore(dirPath, textsDirectory)]
  const texts = new PulledTexts({ store: textsStore, trusted, log })
  await texts.start()
  const redirects = await createRedirectListener(settings.redirect, log)
  run.stops.last.push(() => redirects?.stop())
  const mayBegin = before === null ? undefined : run.gate.opened
  const health = createNodeHealth(settings, shared, log, env, mayBegin)
  const { resolver } = createAddressSources(given, dirPath, readsFleet(shared, trusted))
  const geo = createGeo(settings, log)
  const inData = { dataDir: dirPath, mayWrite: mayBegin }
  const journal = createNodeJournal({ settings, ...inData, geo: geo.source, log })
  const fed = { health, resolver, dynamic: texts, redirects, journal, geo: geo.feed }
  const watchers = watchersOf(settings, log)
  const { samples, queryLog, rateLimit } = watchers
  const cookies = startCookies({ ...given, dataDir, clock: systemClock })
  if (!cookies.ok) return cookies
  const pulledKeys = openPulledKeys(dirPath, env, log)
  const pulledCertificate = openPulledCertificate(settings, dirPath, env, log)
  if (pulledCertificate !== null) certifyRedirects(redirects, givenBy(pulledCertificate))
  const signing = createZoneKeys(settings, dirPath, env, log, pulledKeys)
  const node = new DnsNode({
    ...{ createThreads, threads: threadsIn(settings, watchers, cookies.value, pulledCertificate) },
    ...{ store, trusted, ...fed, signing, usedMax: 0, clock: systemClock, log },
  })
  const exchange = new ZoneExchange(settings, node, log)
  stops.push(watched(rateLimit, node), () => exchange.notifier.stop())
  const keys = exchange.readKeys()
  if (!keys.ok) return keys
  stops.push(startJournalSender({ settings, dataDir: dirPath, token }, log))
  for (const part of [() => journal?.stop(), () => node.rest()]) stops.push(part)
  run.stops.last.push(() => stopAnswering(node, queryLog), cookies.value.stop)
  await geo.source.start()
  stops.push(() => geo.source.stop())
  const opened = await openSockets({ ...given, node, redirects, dataDir }, run)
  if (!opened.ok) return opened
  const ours = {
    ...{ settings, dataDir, shared: shared, health, resolver, token, trusted },
    ...{ store, journal, textsStore, node, texts, exchange, redirects, pulledKeys },
    ...{ geo: geo.source, queryLog, samples, pulledCertificate },
    missingKeys: () => signing.missing(),
    sealed: sealing(settings, shared.status, nodeKey),
  }
  const pulling = await startPulling(ours, { log, env, before, run, dnsPort: opened.value.port })
  if (!pulling.ok) return pulling
  const reread = (now: Settings): void => {
    rateLimit?.reload(now)
    bundleKeys.reread(log)
    cookies.value.reread()
    pulling.value.askAgain()
    redirects?.reopenLog()
    exchange.rereadKeys()
  }
  return ok({ dnsPort: opened.value.port, ...pulling.value, reread })
}

/** Opens the sockets, or takes those of the process before and then its data directory. */
async function openSockets(
  parts: Pick<PulledNode, 'node' | 'redirects' | 'dataDir'> & NodeStart,
  run: Run,
): Promise<Result<{ port: number }, string>> {
  const { node, redirects, before, log } = parts
  const opened = await node.start(before?.sockets)
  if (!opened.ok) return opened
  const redirecting = await openRedirectListener(redirects, log, before?.sockets)
  if (!redirecting.ok) return redirecting
  const taken = await takeOverFrom(before, parts)
  if (!taken.ok) return taken
  run.gate.open()
  return opened
}

type Later = 'puller' | 'report' | 'anycast' | OfKeys
type OfKeys = 'staleKeys' | 'staleCertificate' | 'keyTroubles' | 'keysRefusal' | 'hasToken'

interface Ours extends Omit<PulledNode, Later> {
  readonly texts: PulledTexts
  readonly textsStore: BundleStore
  readonly samples: QuerySamples
  readonly token: string | null
  readonly trusted: readonly TrustedKey[]
  readonly pulledKeys: PulledKeys
  /** null: the settings use none. */
  readonly pulledCertificate: PulledCertificate | null
}

interface Around {
  readonly log: ProcessLog
  readonly env: Io['env']
  readonly before: Predecessor | null
  readonly run: Run
  readonly dnsPort: number
}

/** Starts the puller, and what shows and reports its state. */
async function startPulling(
  ours: Ours,
  { log, env, before, run, dnsPort }: Around,
): Promise<Result<Pulling, string>> {
  const { settings, node, health, store, texts, textsStore, token } = ours
  const { trusted, samples, redirects, pulledCertificate } = ours
  const stops = run.stops.first
  const shadow = createShadow(samples, { live: () => node.live(), trusted })
  stops.push(shadow.stop)
  const self = reporterOf(settings, node, shadow.report, {
    keysRevision: () => ours.pulledKeys.revision,
    texts: () => texts.record?.digest,
    ...(pulledCertificate && {
      certificate: () => pulledCertificate.revision,
      acme: pulledCertificate.wanted,
    }),
    reasons: () => codesOf(pulled),
  })
  const ownTexts = { pulled: texts, store: textsStore }
  const pulls = { settings, token, sealed: ours.sealed, node, health, store, texts: ownTexts }
  const releases = new MemoryReleases({ ...onTheClock, release: () => releaseMemory('drop') })
  stops.push(() => releases.stop())
  const hooks = { shadow: shadow.pulled, onActivated: () => releases.changed() }
  const puller = new Pullers({ ...pulls, ...self, ...hooks, log })
  let announced: NodeAnycast | null = null
  const anycast = () => announced?.status() ?? null
  let keys: KeysPulled | null = null
  const staleKeys = () => keys?.stale() ?? null
  const keysRefusal = () => keys?.refusal() ?? ''
  let certificates: KeyPuller | null = null
  const staleCertificate = () => certificates?.stale() ?? null
  const keyTroubles = () => ours.pulledKeys.troubles()
  const hasToken = token !== null
  const ofKeys = { staleKeys, staleCertificate, keyTroubles, keysRefusal, hasToken }
  const pulled: PulledNode = { ...ours, ...self, puller, anycast, ...ofKeys }
  const status = await beginPulling(pulled, { log, env, before }, run, releases)
  if (!status.ok) return status
  const asking = { urls: settings.bundle.urls, token, sealed: ours.sealed, log }
  const report = (): NodeReport => self.report(puller.pulled())
  const asks = { ...asking, report, trusted: () => trusted }
  keys = pullKeys(ours.pulledKeys, asks, ours.missingKeys)
  stops.push(keys.stop)
  if (pulledCertificate !== null) {
    const { challenges } = pulledCertificate.state
    if (challenges.length > 0) redirects?.challenge(challenges)
    pulledCertificate.onChange(() => redirects?.challenge(pulledCertificate.state.challenges))
    certificates = pullCertificate(pulledCertificate, asks)
    stops.push(() => certificates?.stop())
  }
  // Started last, so that a stop begins with it: the rest answers until the routers know.
  const takesOver = before !== null
  announced = announceNode({ settings, node, dnsPort, env, log, takesOver })
  stops.push(() => announced?.stop(run.isReplaced))
  run.stops.last.push(() => announced?.end())
  return ok({
    apiPort: status.value.port,
    sockets: () => [...node.sockets(), ...(redirects?.sockets() ?? []), ...status.value.sockets()],
    isServing: () => node.status().active !== null,
    askAgain: () => puller.askAgain(),
  })
}

type Pulling = Pick<StartedNode, 'apiPort' | 'sockets' | 'isServing'> & Pick<Pullers, 'askAgain'>

/** @returns what stops it */
function watched(rateLimit: ReturnType<typeof createRateLimit>, node: DnsNode): () => void {
  rateLimit?.watch(node)
  return () => rateLimit?.stop()
}

/** Parts that observe queries beside the answering threads. */
const watchersOf = (settings: Settings, log: ProcessLog) => ({
  samples: new QuerySamples(settings.dns.threads),
  queryLog: startQueryLog(settings, log),
  rateLimit: createRateLimit(settings, log),
})

const threadsIn = (
  settings: Settings,
  { samples, queryLog, rateLimit }: ReturnType<typeof watchersOf>,
  cookies: NodeCookies,
  pulled: PulledCertificate | null,
): DnsNodeParts['threads'] => ({
  ...threadsOf(settings, cookies.cells, pulled && givenBy(pulled)),
  querySamples: samples.rings,
  queryLog: queryLog?.rings,
  rateLimit: rateLimit?.memory,
  transfers: transfersOf(settings.dns),
  seed: randomInt(0x1_0000_0000),
})

type Report = (pulled: Pulled) => NodeReport

/** Reports of this process on its own state. */
function reporterOf(
  settings: Settings,
  node: DnsNode,
  shadow: ShadowReport,
  held: Pick<ReportParts, 'keysRevision' | 'texts' | 'certificate' | 'acme' | 'reasons'>,
): { readonly report: Report } {
  const load = new ThreadLoad(systemClock)
  const latency = new LatencyWindow(systemClock)
  const p99Us = (): number | null => latency.p99Us(node.counters())
  const own = { settings, node, role: 'dns', shadow, ...held } as const
  const parts = { ...own, p99Us, clock: systemClock }
  const instance = randomBytes(8).toString('hex')
  const startedAtMs = systemClock.nowMs()
  const busyRatio = (): number => {
    const threads = node.counters().map(({ threadId }) => threadId)
    load.sample(threads)
    return Math.max(0, ...threads.map((thread) => load.busyRatio(thread)))
  }
  return { report: (pulled) => nodeReport({ ...parts, instance, startedAtMs, busyRatio }, pulled) }
}

/** Warns of settings that have no effect here. */
function warnOfUnused(settings: Settings, token: string | null, log: ProcessLog): void {
  const unused = [
    ...redirectTargets(settings.redirect),
    ...(settings.dns.domain === '' ? [] : ['dns.domain']),
    ...(settings.gitops.url === '' ? [] : ['gitops.url']),
    ...(settings.telemetry.otlp.url === '' ? [] : ['telemetry.otlp.url']),
  ]
  if (unused.length > 0) log.warn({ settings: unused }, 'a node of the role dns does not do this')
  const isOpen = settings.bundle.urls.some(
    (text) => new URL(text).protocol === 'http:' && !isLoopbackName(new URL(text).hostname),
  )
  if (token !== null && isOpen) {
    log.warn({}, 'GSLB_BUNDLE_TOKEN goes over plain HTTP: use https:// in bundle.urls')
  }
}

/** Servers that get redirects pushed: a control node does that. */
function redirectTargets(redirect: Settings['redirect']): string[] {
  const names = ['caddy', 'nginx', 'gatewayAPI', 'cdn'] as const
  return names.filter((name) => redirect[name].enabled).map((name) => `redirect.${name}.enabled`)
}
