// A node of the role dns alone: it answers from bundles that it pulls, without Git, compiler, SQL
// and API.
import { randomBytes, randomInt } from 'node:crypto'
import { openDataDirToServe } from '#cli/data/data-dir.ts'
import { readBundleToken } from '#cli/data/secrets.ts'
import type { Daemon } from '#cli/daemon/daemon.ts'
import { stopParts } from '#cli/daemon/part.ts'
import type { Stop } from '#cli/daemon/part.ts'
import { readTrustedKeyList } from '#cli/files/key-files.ts'
import { createGeo, threadsOf } from '#cli/node/dns.ts'
import { createNodeHealth } from '#cli/node/health.ts'
import { createNodeResolver } from '#cli/node/resolver.ts'
import { changedSettings, reloadedSettings } from '#cli/settings/settings.ts'
import type { Settings } from '#cli/settings/settings.ts'
import { nodeReport } from '#cli/status/node-report.ts'
import { ThreadLoad } from '#cli/status/thread-load.ts'
import type { Io } from '#cli/terminal/command.ts'
import type { ProcessLog } from '#cli/terminal/log.ts'
import { Puller } from '#fleet/puller.ts'
import type { Pulled } from '#fleet/puller.ts'
import type { NodeReport } from '#fleet/node-report.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { noLongerThan, systemAfter } from '#lib/timer.ts'
import { BundleStore } from '#runtime/node/bundle-store.ts'
import { DnsNode } from '#runtime/node/node.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { PulledNode } from './pulled-node.ts'
import { openStatusServer } from './status.ts'

/** How often a disk that was full is tried again, and an expired record is looked for. */
const lookEveryMs = 30_000
const tellEveryMs = 5_000
const leavePatienceMs = 1_000
/** What all keys of this program in Redis begin with. */
const redisPrefix = 'gslbd:'

/** Starts everything, or nothing. Errors: a sentence for the operator. */
export async function startDnsNode(
  settings: Settings,
  log: ProcessLog,
  env: Io['env'],
): Promise<Result<Daemon, string>> {
  const stops: Stop[] = []
  const started = await start(settings, log, env, stops)
  const stop = async (): Promise<void> => {
    await stopParts(stops)
    log.info({}, 'gslbd has stopped')
  }
  if (!started.ok) {
    await stop()
    return started
  }
  let now = settings
  const { dnsPort, apiPort } = started.value
  const { listenAddr, threads } = settings.dns
  log.info({ listenAddr, port: dnsPort, threads, apiPort, roles: ['dns'] }, 'gslbd is running')
  const reload = async (next: Settings): Promise<void> => {
    const { needRestart } = changedSettings(now, next)
    if (needRestart.length > 0) {
      log.warn({ settings: needRestart }, 'these settings change only with a restart')
    }
    now = reloadedSettings(now, next)
    log.setLevel(now.logging.level)
    log.info({}, 'settings reloaded')
  }
  return ok({ dnsPort, apiPort, isRestarting: () => false, reload, stop })
}

async function start(
  settings: Settings,
  log: ProcessLog,
  env: Io['env'],
  stops: Stop[],
): Promise<Result<{ dnsPort: number; apiPort: number | null }, string>> {
  const token = readBundleToken(env)
  if (!token.ok) return token
  warnOfUnused(settings, token.value, log)
  const trusted = readTrustedKeyList(settings.bundle.keys)
  if (!trusted.ok) return err(`bundle.keys: ${trusted.error}`)
  const dataDir = openDataDirToServe(settings.dataDir, log)
  if (!dataDir.ok) return dataDir
  stops.push(() => dataDir.value.release())
  const shared = createEphemeral({
    url: settings.redis.url,
    prefix: redisPrefix,
    clock: systemClock,
    log,
  })
  if (!shared.ok) return shared
  stops.push(() => shared.value.close())
  const store = new BundleStore(dataDir.value.path)
  const health = createNodeHealth(settings, shared.value, log, env)
  const resolver = createNodeResolver(settings, dataDir.value.path, log)
  const geo = createGeo(settings, log)
  const node = new DnsNode({
    threads: { ...threadsOf(settings), seed: randomInt(0x1_0000_0000) },
    store,
    trusted: trusted.value,
    health,
    resolver,
    geo: geo.feed,
    clock: systemClock,
    log,
  })
  stops.push(() => node.stop())
  await geo.source.start()
  stops.push(() => geo.source.stop())
  const opened = await node.start()
  if (!opened.ok) return opened
  const self = reporterOf(settings, node)
  const puller = createPuller(settings, token.value, { node, store, log, report: self.report })
  const parts = { settings, dataDir: dataDir.value, shared: shared.value, health, resolver }
  const pulled = { ...parts, geo: geo.source, store, node, puller, report: self.report }
  const status = await openStatusServer(pulled, log, env)
  if (!status.ok) return status
  stops.push(() => status.value.close())
  puller.start()
  stops.push(() => puller.stop())
  stops.push(tellOthers(pulled))
  stops.push(lookNowAndThen(pulled, log))
  return ok({ dnsPort: opened.value.port, apiPort: status.value.port })
}

type Report = (pulled: Pulled) => NodeReport

/** What this process says of itself. */
function reporterOf(settings: Settings, node: DnsNode): { readonly report: Report } {
  const load = new ThreadLoad(systemClock)
  const parts = { settings, node, role: 'dns', clock: systemClock } as const
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
function tellOthers({ settings, shared: { toldNodes }, puller, report }: PulledNode): Stop {
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
    return noLongerThan(leavePatienceMs, tell(true))
  }
}

interface PullerNeeds {
  readonly node: DnsNode
  readonly store: BundleStore
  readonly log: ProcessLog
  readonly report: Report
}

function createPuller(
  { bundle }: Settings,
  token: string | null,
  { node, store, log, report }: PullerNeeds,
): Puller {
  return new Puller({
    urls: bundle.urls,
    channel: bundle.channel,
    token,
    pollMs: bundle.pollMs,
    judge: (signed) => node.judge(signed),
    isServing: ({ seq, digest, expiresAtMs }) => {
      const { active } = node.status()
      return (
        active !== null &&
        active.seq === seq &&
        active.digest === digest &&
        active.expiresAtMs === expiresAtMs
      )
    },
    stored: (digest) => {
      const bytes = store.bundle(digest)
      return bytes.ok ? bytes.value : undefined
    },
    storedPath: (digest) => store.bundlePath(digest),
    servingDigest: () => node.status().active?.digest ?? '',
    activate: (publication) => node.activate(publication),
    report,
    clock: systemClock,
    after: systemAfter,
    random: new Random(randomInt(0x1_0000_0000)),
    log,
  })
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
    ...(settings.redirect.enabled ? ['redirect.enabled'] : []),
    ...(settings.dns.axfr.enabled ? ['dns.axfr.enabled'] : []),
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

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host.startsWith('127.')
