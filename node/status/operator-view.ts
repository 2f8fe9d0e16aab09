// Implements the API's read-only port to the running daemon.
import type {
  HealthSnapshot,
  MetricsSnapshot,
  OverlaySnapshot,
  ThreadSnapshot,
} from '#metrics/snapshot.ts'
import type { GitopsStatus, OperatorView, SyncState } from '#ports/operator-view.ts'
import { rcodeNames } from '#dns/rcode.ts'
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import type { RepackerStatus } from '#gitops/git/repacker.ts'
import type { Clock } from '#lib/clock.ts'
import type { GeoFileStatus } from '#inputs/geo/geo-source.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import type { EphemeralStatus } from '#state/ephemeral.ts'
import { version } from '#lib/version.ts'
import { exchangeSnapshot } from './exchange-snapshot.ts'
import type { ExchangeParts } from './exchange-snapshot.ts'
import { healthOf, unreadyOf } from './health-reasons.ts'
import type { HealthParts } from './health-reasons.ts'
import type { ThreadLoad } from './thread-load.ts'
import { contentTypes, formFor } from '#metrics/text/form.ts'
import { metricLimits } from '#metrics/limits.ts'
import type { Metrics } from '#metrics/metrics.ts'
import { countPoolHealth } from '#server/node/health-counts.ts'

/** The parts of every node that answers queries. */
interface NodeViewParts extends Omit<ExchangeParts, 'node'> {
  readonly node: DnsNode
  /** null: health checks are off. */
  readonly health: HealthMonitor | null
  readonly resolver: Pick<AddressSource, 'counts'>
  readonly shared: () => EphemeralStatus
  readonly redirects: () => MetricsSnapshot['redirects']
  readonly zonePushes: () => MetricsSnapshot['zonePushes']
  readonly geo: () => readonly GeoFileStatus[]
  readonly load: ThreadLoad
  readonly nodeName: string
  readonly clock: Clock
  readonly queryLog: () => MetricsSnapshot['queryLog']
  /** A sentence for each zone that is to be signed and has no key here. */
  readonly missingKeys: () => readonly string[]
  /** Connected clients. */
  readonly feedClients: () => number
}

interface ViewParts extends HealthParts, NodeViewParts {
  readonly node: DnsNode
  readonly gitops: Pick<GitopsControl, 'status' | 'config'>
  readonly shared: () => EphemeralStatus
  readonly given: () => MetricsSnapshot['given']
  readonly fleet: () => MetricsSnapshot['fleet']
  readonly alerts: () => MetricsSnapshot['alerts']
  readonly anycast: () => (MetricsSnapshot['anycast'] & ReturnType<HealthParts['anycast']>) | null
  readonly queryLog: () =>
    (MetricsSnapshot['queryLog'] & ReturnType<HealthParts['queryLog']>) | null
  /** null: this node keeps none. */
  readonly journal: () => MetricsSnapshot['journal']
  readonly repository: () => RepackerStatus
  readonly branch: string
  /** True when the repository is not on this machine. */
  readonly hasRemote: boolean
  readonly requestCounts: () => MetricsSnapshot['apiRequests']
  readonly writeTimes: () => MetricsSnapshot['apiWrites']
  readonly spans: () => MetricsSnapshot['spans']
  readonly backupAgeSeconds: () => MetricsSnapshot['backupAgeSeconds']
  readonly dataDirectory: () => MetricsSnapshot['dataDirectory']
  /** Seconds from seeing a commit until all responders used it; null: none yet. */
  readonly commitToActiveSeconds: () => number | null
  /** Warnings about what the configuration uses beyond the licence. */
  readonly licenceWarnings: () => readonly StatusDiagnostic[]
}

export function createOperatorView(parts: ViewParts): OperatorView {
  // Loaded on demand, since nodes that only answer import this file as well.
  let metrics: Metrics | undefined
  return {
    health: () => healthOf(parts),
    unready: () => unreadyOf(parts),
    gitops: () => gitopsStatus(parts),
    metrics: async (accept) => {
      const { createMetrics } = await import('#metrics/metrics.ts')
      metrics ??= createMetrics(() => snapshot(parts))
      const form = formFor(accept)
      return { type: contentTypes[form], text: await metrics.text(form) }
    },
  }
}

function ageSeconds({ clock }: NodeViewParts, issuedAtMs: number): number {
  return Math.max(0, (clock.nowMs() - issuedAtMs) / 1000)
}

function syncOf(parts: ViewParts): SyncState {
  const { sync, checkedAtMs } = parts.gitops.status()
  return checkedAtMs === 0 && sync === 'pending' ? 'starting' : sync
}

function gitopsStatus(parts: ViewParts): GitopsStatus {
  const git = parts.gitops.status()
  const { active, serial, refused, expired, swaps, swapSecondsLast } = parts.node.status()
  return {
    branch: parts.branch,
    head: git.head?.commit ?? null,
    accepted: git.accepted?.commit ?? null,
    active: active?.commit ?? null,
    sync: syncOf(parts),
    reason: git.code === '' ? null : { code: git.code, message: git.reason, sinceMs: git.sinceMs },
    note: git.note === '' ? null : git.note,
    diagnostics: [...git.diagnostics, ...parts.licenceWarnings()],
    lookedFromMs: git.lookedFromMs === 0 ? null : git.lookedFromMs,
    node: {
      channel: active?.channel ?? '',
      seq: active?.seq ?? 0,
      serial,
      digest: active?.digest ?? null,
      issuedAtMs: active?.issuedAtMs ?? null,
      ageSeconds: active === null ? null : ageSeconds(parts, active.issuedAtMs),
      expired,
      swapCount: swaps,
      lastSwapMs: swapSecondsLast === null ? null : swapSecondsLast * 1000,
      refused,
    },
  }
}

function snapshot(parts: ViewParts): MetricsSnapshot {
  const { node, gitops } = parts
  const git = gitops.status()
  return {
    ...nodeSnapshot(parts),
    certificates: parts.certificates(),
    isDatabaseUp: parts.database().isUp,
    backupAgeSeconds: parts.backupAgeSeconds(),
    dataDirectory: parts.dataDirectory(),
    apiRequests: parts.requestCounts(),
    ...{ apiWrites: parts.writeTimes(), spans: parts.spans() },
    pull: null,
    given: parts.given(),
    fleet: parts.fleet(),
    alerts: parts.alerts(),
    ...{ anycast: parts.anycast(), journal: parts.journal() },
    gitops: {
      sync: syncOf(parts),
      head: git.head?.commit ?? null,
      accepted: git.accepted?.commit ?? null,
      active: node.status().active?.commit ?? null,
      commitToActiveSeconds: parts.commitToActiveSeconds(),
      contactSecondsAgo: parts.hasRemote ? contactSecondsAgo(parts) : null,
      ...parts.repository(),
    },
  }
}

type ElsewhereFields =
  | ('gitops' | 'pull' | 'given' | 'fleet' | 'alerts')
  | ('anycast' | 'journal' | 'isDatabaseUp' | 'backupAgeSeconds' | 'dataDirectory' | 'apiRequests')
  | ('apiWrites' | 'spans' | 'certificates')

/** The whole snapshot except where bundles come from and go to. */
export function nodeSnapshot(parts: NodeViewParts): Omit<MetricsSnapshot, ElsewhereFields> {
  const { node, health } = parts
  const { active, serial, expired, swaps, swapSecondsTotal, swapSecondsLast } = node.status()
  const redis = parts.shared()
  const stats = health?.stats()
  const tcp = node.tcpStats
  return {
    build: { version, node: parts.nodeName },
    ...siteSnapshot(node),
    threads: threadSnapshots(parts),
    tcp: {
      open: tcp?.open ?? 0,
      accepted: tcp?.accepted ?? 0,
      refused: tcp?.refused ?? 0,
      evicted: tcp?.evicted ?? 0,
      secure: tcp?.secure ?? null,
    },
    health: {
      probes: stats === undefined ? {} : { ...stats.probes },
      late: stats?.late ?? 0,
      targets: stats?.targets ?? 0,
      workerRestarts: stats?.workerRestarts ?? 0,
      members: node.memberHealth(),
      signalled: countSignalled(health),
      peers: health?.peers()?.length ?? null,
    },
    exchange: exchangeSnapshot(parts),
    resolve: parts.resolver.counts(),
    feedClients: parts.feedClients(),
    queryLog: parts.queryLog(),
    isRedisUp: redis.kind === 'redis' ? redis.state === 'up' : null,
    responseRules: node.responseHits.bySource(),
    redirects: parts.redirects(),
    zonePushes: parts.zonePushes(),
    scripts: node.scriptStatus(),
    ...{ signedAhead: node.aheadStatus(), zonesWithoutKey: parts.missingKeys().length },
    overlays: overlaySnapshot(parts),
    geo: parts.geo().map(({ setting, buildEpoch, networks, error }) => ({
      setting,
      buildEpoch,
      networks: networks ?? 0,
      isBroken: error !== null,
    })),
    bundle: {
      seq: active?.seq ?? 0,
      serial,
      digest: active?.digest ?? '',
      ageSeconds: active === null ? null : ageSeconds(parts, active.issuedAtMs),
      expired,
      swaps,
      swapSecondsTotal,
      swapSecondsLast,
    },
  }
}

/** Seconds since the last look at a repository that answers, or since it stopped answering. */
function contactSecondsAgo({ gitops, clock }: ViewParts): number | null {
  const { sync, sinceMs, checkedAtMs } = gitops.status()
  const atMs = sync === 'unreachable' ? sinceMs : checkedAtMs
  return atMs === 0 ? null : Math.max(0, (clock.nowMs() - atMs) / 1_000)
}

function countSignalled(health: HealthMonitor | null): HealthSnapshot['signalled'] {
  const counts = { healthy: 0, unhealthy: 0 }
  for (const memberUid of health?.signalled() ?? []) {
    if (health?.signalOf(memberUid) === true) counts.healthy++
    else counts.unhealthy++
  }
  return counts
}

function overlaySnapshot({ node }: NodeViewParts): OverlaySnapshot {
  const { rollouts, windows, regressions } = node.overlays()
  return { rollouts: countStates(rollouts), windows: countStates(windows), regressions }
}

function countStates(list: readonly { readonly state: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of list) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

function threadSnapshots({ node, load }: NodeViewParts): ThreadSnapshot[] {
  return node.counters().map(({ threadId, byRcode, ...counts }, thread) => {
    const named = Object.entries(byRcode).map(([code, count]) => [
      rcodeNames[Number(code)] ?? `RCODE${code}`,
      count,
    ])
    return {
      ...counts,
      thread,
      busyRatio: load.busyRatio(threadId),
      byRcode: Object.fromEntries(named) as Record<string, number>,
    }
  })
}

/** Counts of what the node serves, and the members of each pool, for its metrics. */
function siteSnapshot(
  node: Pick<DnsNode, 'live'>,
): Pick<MetricsSnapshot, 'objects' | 'poolMembers'> {
  const live = node.live()
  if (live === undefined) return { objects: null, poolMembers: [] }
  const { zones, services, pools } = live.bundle.counts
  return {
    objects: { zones, services, pools },
    poolMembers: countPoolHealth(live.bundle, live.state, metricLimits.poolsMax),
  }
}
