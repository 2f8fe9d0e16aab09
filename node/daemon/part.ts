// A part of the daemon: a function that starts it, gives the later parts what they need, and says
// how to stop it. Also the loop that starts a list of parts, and the one that stops them.
import type { NodeAnycast } from '#node/anycast/node-anycast.ts'
import type { NodeAlerts } from '#node/compose/alerts.ts'
import type { NodeDomains } from '#node/compose/domains.ts'
import type { ClusterView } from '#api/ports/cluster-view.ts'
import type { OperatorView } from '#api/ports/operator-view.ts'
import type { NodeApi } from '#node/api/api.ts'
import type { NodeLicence } from '#node/compose/licence.ts'
import type { NodeRecords } from '#node/stores/records.ts'
import type { Regressions } from '#node/overlays/regressions.ts'
import type { RedirectPushes } from '#node/compose/redirect-targets.ts'
import type { NodeDelivery } from '#node/compose/delivery-files.ts'
import type { JournalKeeper } from '#node/past/journal-keeper.ts'
import type { DataDir } from '#node/data/data-dir.ts'
import type { NodeKey } from '#node/data/key.ts'
import type { Settings } from '#settings/settings.ts'
import type { ProcessLog } from '#node/process/log.ts'
import type { Io } from '#system/process/command.ts'
import type { Predecessor, WriteGate } from '#node/data/predecessor.ts'
import type { Repacker } from '#gitops/git/repacker.ts'
import type { BundleDeltas } from '#fleet/bundle-deltas.ts'
import type { PackedBundles } from '#fleet/packed-bundles.ts'
import type { BundleFeed } from '#fleet/bundle-feed.ts'
import type { BundleFiles } from '#fleet/bundle-files.ts'
import type { DriftedNode } from '#fleet/drift.ts'
import type { NodeInventory } from '#fleet/node-inventory.ts'
import type { CommitNews } from '#gitops/sync/commit-news.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Notifier } from '#zones/notify/notifier.ts'
import type { Updates } from '#zones/update/updates.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import type { GeoFeed } from '#inputs/geo/geo-link.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import type { ClientRegions } from '#answer/samples/client-regions.ts'
import type { Journal } from '#journal/journal.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { QueryLog } from '#answer/query-log/query-log.ts'
import type { HostnameResolver } from '#inputs/resolve/hostname-resolver.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { RumStore } from '#inputs/rum/rum-store.ts'
import type { EphemeralState } from '#state/ephemeral.ts'

/** What there is before the first part. */
export interface Given {
  /** As they are now: a reload changes them. */
  settings: Settings
  /** As they were read last: what only a restart applies differs. */
  latestSettings: Settings
  readonly log: ProcessLog
  readonly env: Io['env']
  /** Runs when the data directory is held, before anything reads it. */
  readonly prepare: () => Promise<Result<null, string>>
  /** null: this process takes nothing over. */
  readonly before: Predecessor | null
  /** Opens when the data directory is held. */
  readonly gate: WriteGate
  /** The process is being replaced: it leaves no cluster, for its successor is there already. */
  isReplaced: boolean
}

/** What the parts give. A part reads what earlier parts gave; later ones only in callbacks. */
export interface Gifts {
  readonly dataDir: DataDir
  readonly key: NodeKey
  readonly shared: EphemeralState
  readonly records: NodeRecords
  /** TSIG keys and TXT records. */
  readonly dynamicDns: DynamicDns
  readonly lookAtDynamicDns: () => Promise<void>
  readonly followDynamicDns: () => void
  readonly rum: RumStore
  readonly store: BundleStore
  /** What nodes that pull are given. */
  readonly bundleFeed: BundleFeed
  /** Bundles of the TXT records written at run time, for nodes that pull. */
  readonly textsFeed: BundleFeed
  readonly bundleFiles: BundleFiles
  readonly bundleDeltas: BundleDeltas
  readonly packedBundles: PackedBundles
  /** null: the listener is off. */
  readonly redirects: RedirectServer | null
  readonly redirectPushes: RedirectPushes
  /** null: health checks are off. */
  readonly health: HealthMonitor | null
  readonly resolver: HostnameResolver
  readonly geo: GeoSource
  /** Set handlers before the tables are read. */
  readonly geoFeed: GeoFeed
  /** null: the settings want none, or the node answers nobody. */
  readonly clientRegions: ClientRegions | null
  /** null: the settings want none. */
  readonly journal: Journal | null
  /** Copies of all nodes' journals, in the database. */
  readonly journals: JournalKeeper
  readonly node: DnsNode
  /** null: it is off. */
  readonly queryLog: QueryLog | null
  readonly updates: Updates
  readonly notifier: Notifier
  /** Sets how many DNS queries a second the licence permits; 0: no limit. */
  readonly permit: (perSecond: number) => void
  /** null: it answers no DNS. */
  readonly dnsPort: number | null
  /** null: its addresses are not announced. */
  readonly anycast: NodeAnycast | null
  readonly gitops: GitopsControl
  /** Rollouts that do harm: who wants to hear of them listens here. */
  readonly regressions: Regressions
  /** null: no other node can be told. */
  readonly commitNews: CommitNews | null
  readonly repacker: Repacker
  readonly domains: NodeDomains
  readonly verifyDomains: () => Promise<void>
  /** From the moment a commit was seen until all responders used it; null: none yet. */
  readonly commitToActiveSeconds: () => number | null
  readonly cluster: ClusterView
  /** What nodes that pull tell of themselves. */
  readonly inventory: NodeInventory
  /** The same, with what is wrong with each. */
  readonly drifted: () => readonly DriftedNode[]
  /** Changes that reach nodes in waves. */
  readonly delivery: NodeDelivery
  /** Takes over what other control nodes have heard. */
  readonly lookAtFleet: () => Promise<void>
  /** Tells the other nodes how this one is. */
  readonly announceNode: () => void
  /** The stop under way is one after which the node is to be started again. */
  readonly isRestarting: () => boolean
  /** null: the API is off. */
  readonly operatorView: OperatorView | null
  /** Samples how busy the DNS threads are. */
  readonly sampleLoad: () => void
  readonly alerts: NodeAlerts
  /** Busy share of the busiest DNS thread, 0 to 1. */
  readonly busyRatio: () => number
  /** null: the API is off. */
  readonly api: NodeApi | null
  readonly apiPort: number | null
  readonly licence: NodeLicence
}

export type Deps = Given & Gifts
export type Stop = () => void | Promise<void>

export interface Started {
  readonly gives?: Partial<Gifts>
  readonly stop?: Stop
  /** Stops what answers, when everything else has stopped. */
  readonly stopLast?: Stop
}

/** What is to be stopped, in the order of the start. */
export interface Stops {
  readonly first: Stop[]
  readonly last: Stop[]
}

/**
 * Starts one part. One that fails leaves nothing behind: what has to be taken back belongs to a
 * part before it. Errors: a sentence for the operator.
 */
export type Part = (deps: Deps) => Result<Started, string> | Promise<Result<Started, string>>

/** Starts parts in order, up to the first that fails; adds to `stops` what has started. */
export async function startParts(
  parts: readonly Part[],
  deps: Deps,
  stops: Stops,
): Promise<Result<null, string>> {
  for (const part of parts) {
    const started = await part(deps)
    if (!started.ok) return started
    Object.assign(deps, started.value.gives)
    const { stop, stopLast } = started.value
    if (stop !== undefined) stops.first.push(stop)
    if (stopLast !== undefined) stops.last.push(stopLast)
  }
  return ok(null)
}

/** Stops what was started, last first. */
export async function stopParts(stops: Stop[]): Promise<void> {
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop()
}
