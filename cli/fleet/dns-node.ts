// A node of the role dns alone: it answers from bundles that it pulls, without Git, compiler, SQL
// and API.
import { randomBytes, randomInt } from 'node:crypto'
import { announceNode } from '#cli/anycast/node-anycast.ts'
import type { NodeAnycast } from '#cli/anycast/node-anycast.ts'
import { openDataDirLater, openDataDirToServe } from '#cli/data/data-dir.ts'
import { readBundleToken } from '#cli/data/secrets.ts'
import type { TrustedKey } from '#bundle/signature/channel.ts'
import type { Daemon } from '#cli/daemon/daemon.ts'
import { stopParts } from '#cli/daemon/part.ts'
import type { Stop, Stops } from '#cli/daemon/part.ts'
import { WriteGate, takeOverFrom } from '#cli/data/predecessor.ts'
import type { Predecessor } from '#cli/data/predecessor.ts'
import { readTrustedKeyList } from '#cli/files/key-files.ts'
import { createGeo, threadsOf } from '#cli/node/dns.ts'
import { createNodeHealth } from '#cli/node/health.ts'
import { createNodeResolver } from '#cli/node/resolver.ts'
import { changedSettings, reloadedSettings } from '#cli/settings/settings.ts'
import type { Settings } from '#cli/settings/settings.ts'
import { createNodeJournal } from '#cli/why/node-journal.ts'
import { nodeReport } from '#cli/status/node-report.ts'
import type { ShadowReport } from '#cli/status/node-report.ts'
import { ThreadLoad } from '#cli/status/thread-load.ts'
import type { Io } from '#cli/terminal/command.ts'
import type { ProcessLog } from '#cli/terminal/log.ts'
import type { Pulled } from '#fleet/puller.ts'
import type { NodeReport } from '#fleet/node-report.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { keepThreadsSmall, releaseMemory } from '#runtime/worker/release-memory.ts'
import { noLongerThan, systemAfter } from '#lib/timer.ts'
import { BundleStore } from '#runtime/node/bundle-store.ts'
import { LatencyWindow } from '#runtime/counters/latency-window.ts'
import { DnsNode } from '#runtime/node/node.ts'
import { createThreadGroup } from '#runtime/threads/thread-group.ts'
import type { DnsNodeParts } from '#runtime/node/node-parts.ts'
import { QuerySamples } from '#runtime/samples/query-samples.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import { transfersOf } from '#cli/node/transfers.ts'
import { PulledTexts } from '#runtime/texts/pulled-texts.ts'
import { textsDirectory } from '#runtime/texts/texts-bundle.ts'
import { MemoryReleases } from './memory-releases.ts'
import type { PulledNode } from './pulled-node.ts'
import { Pullers } from './pullers.ts'
import { createRedirects, openRedirects } from './redirects.ts'
import { createShadow } from './shadow.ts'
import { openStatusServer } from './status.ts'
import { ZoneExchange } from './zone-exchange.ts'

/** How often a disk that was full is tried again, and an expired record is looked for. */
const lookEveryMs = 30_000
const tellEveryMs = 5_000
const leavePatienceMs = 1_000
/** What all keys of this program in Redis begin with. */
const redisPrefix = 'gslbd:'

const onTheClock = { clock: systemClock, after: systemAfter } as const

/** Starts everything, or nothing. Errors: a sentence for the operator. */
export async function startDnsNode(
  settings: Settings,
  log: ProcessLog,
  env: Io['env'],
  before: Predecessor | null = null,
): Promise<Result<Daemon, string>> {
  keepThreadsSmall()
  const run: Run = { stops: { first: [], last: [] }, gate: new WriteGate(), isReplaced: false }
  const started = await start(settings, log, env, before, run)
  const stop = async (): Promise<void> => {
    run.gate.giveUp()
    await stopParts(run.stops.first)
    await stopParts(run.stops.last.reverse())
    if (!run.isReplaced) log.info({}, 'gslbd has stopped')
  }
  if (!started.ok) {
    await stop()
    return started
  }
  let now = settings
  const { dnsPort, apiPort, sockets, isServing, reread } = started.value
  const { listenAddr, threads } = settings.dns
  log.info({ listenAddr, port: dnsPort, threads, apiPort, roles: ['dns'] }, 'gslbd is running')
  const reload = async (next: Settings): Promise<void> => {
    const { needRestart } = changedSettings(now, next)
    if (needRestart.length > 0) {
      log.warn({ settings: needRestart }, 'these settings change only with a restart')
    }
    now = reloadedSettings(now, next)
    log.setLevel(now.logging.level)
    reread()
    log.info({}, 'settings reloaded')
  }
  const letGo = (): Promise<void> => {
    run.isReplaced = true
    return stopParts(run.stops.first)
  }
  const parts = { dnsPort, apiPort, sockets, isServing, reload, letGo, stop }
  return ok({ ...parts, isRestarting: () => false })
}

/** What changes while it starts and stops. */
interface Run {
  readonly stops: Stops
  /** Opens when the data directory is held. */
  readonly gate: WriteGate
  /** Its successor says to others that the node is there. */
  isReplaced: boolean
}

interface StartedNode extends Pick<Daemon, 'dnsPort' | 'apiPort' | 'sockets' | 'isServing'> {
  /** What files say besides the settings. */
  readonly reread: () => void
}

async function start(
  settings: Settings,
  log: ProcessLog,
  env: Io['env'],
  before: Predecessor | null,
  run: Run,
): Promise<Result<StartedNode, string>> {
  const stops = run.stops.first
  const token = readBundleToken(env)
  if (!token.ok) return token
  warnOfUnused(settings, token.value, log)
  const trusted = readTrustedKeyList(settings.bundle.keys)
  if (!trusted.ok) return err(`bundle.keys: ${trusted.error}`)
  const { dataDir: path } = settings
  const dataDir = before === null ? openDataDirToServe(path, log) : ok(openDataDirLater(path))
  if (!dataDir.ok) return dataDir
  if (before === null) run.gate.open()
  stops.push(() => dataDir.value.release())
  const shared = openShared(settings, log)
  if (!shared.ok) return shared
  stops.push(() => shared.value.close())
  const store = new BundleStore(dataDir.value.path)
  const dirPath = dataDir.value.path
  const textsStore = new BundleStore(dirPath, textsDirectory)
  const texts = new PulledTexts({ store: textsStore, trusted: trusted.value, log })
  await texts.start()
  const redirects = await createRedirects(settings.redirect, log)
  run.stops.last.push(() => redirects?.stop())
  const mayBegin = before === null ? undefined : run.gate.opened
  const health = createNodeHealth(settings, shared.value, log, env, mayBegin)
  const resolver = createNodeResolver(settings, dirPath, log)
  const geo = createGeo(settings, log)
  const inData = { dataDir: dirPath, mayWrite: mayBegin }
  const journal = createNodeJournal({ settings, ...inData, geo: geo.source, log })
  const fed = { health, resolver, dynamic: texts, redirects, journal, geo: geo.feed }
  const samples = new QuerySamples(settings.dns.threads)
  const node = new DnsNode({
    createThreads: createThreadGroup,
    threads: threadsIn(settings, samples),
    ...{ store, trusted: trusted.value, ...fed, clock: systemClock, log },
  })
  const exchange = new ZoneExchange(settings.dns, node, log)
  const keys = exchange.readKeys()
  if (!keys.ok) return keys
  stops.push(() => exchange.notifier.stop())
  stops.push(() => journal?.stop())
  stops.push(() => node.rest())
  run.stops.last.push(() => node.stop())
  await geo.source.start()
  stops.push(() => geo.source.stop())
  const opened = await openSockets({ node, redirects, dataDir: dataDir.value }, before, run, log)
  if (!opened.ok) return opened
  const parts = { settings, dataDir: dataDir.value, shared: shared.value, health, resolver }
  const own = { store, textsStore, node, texts, exchange, redirects, geo: geo.source, samples }
  const ours = { ...parts, ...own, token: token.value, trusted: trusted.value }
  const around = { log, env, before, run, dnsPort: opened.value.port }
  const pulling = await startPulling(ours, around)
  if (!pulling.ok) return pulling
  const reread = (): void => {
    redirects?.reopenLog()
    const read = exchange.readKeys()
    if (!read.ok) log.error({}, `${read.error}; the keys before stay`)
  }
  return ok({ dnsPort: opened.value.port, ...pulling.value, reread })
}

/** Opens the sockets, or takes those of the process before, and then its data directory. */
async function openSockets(
  parts: Pick<PulledNode, 'node' | 'redirects' | 'dataDir'>,
  before: Predecessor | null,
  run: Run,
  log: ProcessLog,
): Promise<Result<{ port: number }, string>> {
  const { node, redirects, dataDir } = parts
  const opened = await node.start(before?.sockets)
  if (!opened.ok) return opened
  const redirecting = await openRedirects(redirects, log, before?.sockets)
  if (!redirecting.ok) return redirecting
  const taken = await takeOverFrom(before, { node, dataDir, log })
  if (!taken.ok) return taken
  run.gate.open()
  return opened
}

interface Ours extends Omit<PulledNode, 'puller' | 'report' | 'anycast'> {
  readonly textsStore: BundleStore
  readonly samples: QuerySamples
  readonly token: string | null
  readonly trusted: readonly TrustedKey[]
}

interface Around {
  readonly log: ProcessLog
  readonly env: Io['env']
  readonly before: Predecessor | null
  readonly run: Run
  readonly dnsPort: number
}

/** What pulls, and shows and tells what was pulled. */
async function startPulling(
  ours: Ours,
  { log, env, before, run, dnsPort }: Around,
): Promise<Result<Pick<StartedNode, 'apiPort' | 'sockets' | 'isServing'>, string>> {
  const { settings, node, store, texts, textsStore, token, trusted, samples, redirects } = ours
  const stops = run.stops.first
  const shadow = createShadow(samples, { live: () => node.live(), trusted })
  stops.push(shadow.stop)
  const self = reporterOf(settings, node, shadow.report)
  const pulls = { settings, token, node, store, texts, textsStore }
  const releases = new MemoryReleases({ ...onTheClock, release: releaseMemory })
  stops.push(() => releases.stop())
  const told = { shadow: shadow.pulled, onActivated: () => releases.changed() }
  const puller = new Pullers({ ...pulls, ...self, ...told, log })
  let announced: NodeAnycast | null = null
  const anycast = () => announced?.status() ?? null
  const pulled = { ...ours, ...self, puller, anycast }
  const status = await openStatusServer(pulled, log, env, before?.sockets)
  if (!status.ok) return status
  stops.push(() => status.value.close())
  puller.start()
  if (node.status().active !== null) releases.changed()
  stops.push(() => puller.stop())
  stops.push(tellOthers(pulled, run))
  stops.push(lookNowAndThen(pulled, log))
  // Last, so that a stop begins with it: all else goes on until the routers know.
  const takesOver = before !== null
  announced = announceNode({ settings, node, dnsPort, env, log, takesOver })
  stops.push(() => announced?.stop(run.isReplaced))
  run.stops.last.push(() => announced?.end())
  return ok({
    apiPort: status.value.port,
    sockets: () => [...node.sockets(), ...(redirects?.sockets() ?? []), ...status.value.sockets()],
    isServing: () => node.status().active !== null,
  })
}

const openShared = ({ redis }: Settings, log: ProcessLog) =>
  createEphemeral({ redis, prefix: redisPrefix, clock: systemClock, log })

const threadsIn = (settings: Settings, samples: QuerySamples): DnsNodeParts['threads'] => ({
  ...threadsOf(settings),
  querySamples: samples.rings,
  transfers: transfersOf(settings.dns),
  seed: randomInt(0x1_0000_0000),
})

type Report = (pulled: Pulled) => NodeReport

/** What this process says of itself. */
function reporterOf(
  settings: Settings,
  node: DnsNode,
  shadow: ShadowReport,
): { readonly report: Report } {
  const load = new ThreadLoad(systemClock)
  const latency = new LatencyWindow(systemClock)
  const p99Us = (): number | null => latency.p99Us(node.counters())
  const parts = { settings, node, role: 'dns', shadow, p99Us, clock: systemClock } as const
  const instance = randomBytes(8).toString('hex')
  const startedAtMs = systemClock.nowMs()
  const busyRatio = (): number => {
    const threads = node.counters().map(({ threadId }) => threadId)
    load.sample(threads)
    return Math.max(0, ...threads.map((thread) => load.busyRatio(thread)))
  }
  return { report: (pulled) => nodeReport({ ...parts, instance, startedAtMs, busyRatio }, pulled) }
}

/** By Redis, where there is one: also when its bundles come from a web server. */
function tellOthers(
  { settings, shared: { toldNodes }, puller, report }: PulledNode,
  run: Pick<Run, 'isReplaced'>,
): Stop {
  if (settings.redis.url === '') return () => undefined
  const tell = async (isLeaving: boolean): Promise<void> => {
    const word = { ...report(puller.pulled()), isLeaving }
    const key = `${word.name} ${word.instance}`
    await toldNodes.tell({ key, text: JSON.stringify(word), atMs: systemClock.nowMs() })
  }
  const timer = setInterval(() => void tell(false), tellEveryMs)
  void tell(false)
  return () => {
    clearInterval(timer)
    return run.isReplaced ? undefined : noLongerThan(leavePatienceMs, tell(true))
  }
}

/** A disk that was full may have room again; a record may have expired. */
function lookNowAndThen({ node, dataDir, store }: PulledNode, log: ProcessLog): Stop {
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

/** Settings that a person may expect to have an effect here. */
function warnOfUnused(settings: Settings, token: string | null, log: ProcessLog): void {
  const unused = [
    ...redirectTargets(settings.redirect),
    ...(settings.dns.domain === '' ? [] : ['dns.domain']),
    ...(settings.gitops.url === '' ? [] : ['gitops.url']),
  ]
  if (unused.length > 0) log.warn({ settings: unused }, 'a node of the role dns does not do this')
  const isOpen = settings.bundle.urls.some(
    (text) => new URL(text).protocol === 'http:' && !isLoopback(new URL(text).hostname),
  )
  if (token !== null && isOpen) {
    log.warn({}, 'GSLB_BUNDLE_TOKEN goes over plain HTTP: use https:// in bundle.urls')
  }
}

/** Servers of others are told of redirects by a control node. */
function redirectTargets(redirect: Settings['redirect']): string[] {
  const names = ['caddy', 'nginx', 'gatewayAPI', 'cdn'] as const
  return names.filter((name) => redirect[name].enabled).map((name) => `redirect.${name}.enabled`)
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host.startsWith('127.')
