// Runs a probe agent, a node of the role agent: it probes the members of the bundles that it pulls,
// and reports to the other nodes. It answers no DNS.
import { randomBytes } from 'node:crypto'
import { takeOverFrom } from '#process/data/predecessor.ts'
import { createNodeHealth } from '#node/compose/health.ts'
import { createAddressSources, readsFleet } from '#node/compose/discovery.ts'
import type { StartNode } from '#node/daemon/daemon.ts'
import type { NodeStart } from '#node/parts/part.ts'
import type { Settings } from '#settings/settings.ts'
import { nodeReport } from '#node/status/node-report.ts'
import type { ReportParts } from '#node/status/node-report.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { Pulled } from '#fleet/puller.ts'
import { AgentReportSender } from '#fleet/agent/report-sender.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { DnsNode } from '#server/node/node.ts'
import type { DnsNodeParts } from '#server/node/node-parts.ts'
import { releaseMemory } from '#system/worker/release-memory.ts'
import type { PeerHealth } from '#state/ports/peer-health.ts'
import { MemoryReleases } from '#lib/memory/memory-releases.ts'
import type { BundleKeys } from './bundle-keys.ts'
import { codesOf } from './pulled-health.ts'
import type { PulledNode } from './pulled-node.ts'
import { Pullers } from './pullers.ts'
import { beginPulling, openPulled, startPulled, sealing } from './start-pulled.ts'
import type { Run, StartedNode } from './start-pulled.ts'

export const startAgent: StartNode = (given) => startPulled(given, start, { roles: ['agent'] })

async function start(given: NodeStart, run: Run): Promise<Result<StartedNode, string>> {
  const { settings, log, env, before, createThreads } = given
  const stops = run.stops.first
  const open = openPulled(given, run)
  if (!open.ok) return open
  const { token, nodeKey, keys, dataDir, shared } = open.value
  const { path } = dataDir
  const mayBegin = before === null ? undefined : run.gate.opened
  const reporting = { ...shared, ...reportsTo(settings, token) }
  const health = createNodeHealth(probing(settings), reporting, log, env, mayBegin)
  const { resolver } = createAddressSources(given, path, readsFleet(shared, keys.trusted))
  const store = new BundleStore(path)
  const node = new DnsNode({
    ...{ threads: noAnswers, createThreads, usedMax: 0 },
    ...{ store, trusted: keys.trusted, health, resolver, geo: null, clock: systemClock, log },
  })
  stops.push(() => node.rest())
  run.stops.last.push(() => node.stop())
  const opened = await node.start(before?.sockets)
  if (!opened.ok) return opened
  const taken = await takeOverFrom(before, { ...given, node, dataDir })
  if (!taken.ok) return taken
  run.gate.open()
  const ours = { settings, dataDir, shared, health, resolver, store }
  const unanswered = {
    texts: null,
    exchange: null,
    queryLog: null,
    redirects: null,
    geo: null,
    journal: null,
    anycast: () => null,
    missingKeys: () => [],
    ...{ staleKeys: () => null, staleCertificate: () => null },
    ...{ keyTroubles: () => [], keysRefusal: () => '' },
    hasToken: true,
    sealed: sealing(settings, shared.status, nodeKey),
  }
  return startPulling({ ...ours, ...unanswered, node }, { token, keys }, given, run)
}

/** Settings with everything else switched off. */
const probing = (settings: Settings): Settings => ({
  ...settings,
  health: { ...settings.health, enabled: true },
})

/** How it reports: by Redis; without it by control nodes, and then it gets no reports of others. */
function reportsTo(
  { redis, bundle: { urls } }: Settings,
  token: string | null,
): { readonly peerHealth?: PeerHealth } {
  if (redis.url !== '') return {}
  const { publish } = new AgentReportSender({ urls, token })
  return { peerHealth: { publish, load: async () => [], subscribe: () => () => undefined } }
}

const noAnswers: DnsNodeParts['threads'] = {
  ...{ listenAddr: '', port: 0, threads: 0, tcpLimits: {}, seed: 0 },
  settings: { udpPayloadSize: 0, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 },
}

/** Starts the puller, and what shows and reports its state. */
async function startPulling(
  ours: Omit<PulledNode, 'puller' | 'report'>,
  { token, keys }: { readonly token: string | null; readonly keys: BundleKeys },
  given: NodeStart,
  run: Run,
): Promise<Result<StartedNode, string>> {
  const { settings, log } = given
  const { node, health, store } = ours
  const stops = run.stops.first
  const releases = new MemoryReleases({
    ...{ clock: systemClock, after: systemAfter, release: () => releaseMemory('drop') },
  })
  stops.push(() => releases.stop())
  const self: ReportParts = {
    ...{ settings, node, clock: systemClock, busyRatio: () => 0 },
    role: 'agent',
    reasons: () => codesOf(pulled),
    ...{ instance: randomBytes(8).toString('hex'), startedAtMs: systemClock.nowMs() },
  }
  const report = (pulled: Pulled): NodeReport => nodeReport(self, pulled)
  const puller = new Pullers({
    ...{ settings, token, node, health, store, texts: null, report, sealed: ours.sealed, log },
    onActivated: () => releases.changed(),
  })
  const pulled: PulledNode = { ...ours, puller, report }
  const status = await beginPulling(pulled, given, run, releases)
  if (!status.ok) return status
  return ok({
    dnsPort: null,
    apiPort: status.value.port,
    sockets: status.value.sockets,
    isServing: () => node.status().active !== null,
    reread: () => {
      keys.reread(log)
      puller.askAgain()
    },
  })
}
