// Lists what the parts of the daemon provide to later parts, by name.
import type { NodeAnycast } from '#node/anycast/node-anycast.ts'
import type { NodeAlerts } from '#node/compose/alerts.ts'
import type { NodeCookies } from '#node/compose/cookies.ts'
import type { NodeRateLimit } from '#node/compose/rate-limit.ts'
import type { NodeAcme } from '#node/certificates/acme-keeper.ts'
import type { InboundZones } from '#import/inbound/inbound-zones.ts'
import type { NodeCertificates } from '#node/certificates/node-certificates.ts'
import type { NodeKeyVault } from '#node/signing/key-vault.ts'
import type { NodeDomains } from '#node/compose/domains.ts'
import type { ClusterView } from '#ports/cluster-view.ts'
import type { OperatorView } from '#ports/operator-view.ts'
import type { NodeApi } from '#node/api/api.ts'
import type { NodeLicence } from '#node/compose/licence.ts'
import type { NodeTelemetry } from '#node/telemetry/node-telemetry.ts'
import type { NodeRecords } from '#node/stores/records.ts'
import type { Regressions } from '#node/overlays/regressions.ts'
import type { RedirectPushes } from '#node/compose/redirect-targets.ts'
import type { ZonePushes } from '#node/zone-push/zone-pushes.ts'
import type { NodeDelivery } from '#node/compose/delivery-files.ts'
import type { JournalKeeper } from '#node/journal/journal-keeper.ts'
import type { DataDir } from '#process/data/data-dir.ts'
import type { NodeKey } from '#process/data/key.ts'
import type { Repacker } from '#gitops/git/repacker.ts'
import type { BundleDeltas } from '#fleet/bundle-deltas.ts'
import type { PackedBundles } from '#fleet/packed-bundles.ts'
import type { BundleFeed } from '#fleet/bundle-feed.ts'
import type { BundleFiles } from '#fleet/bundle-files.ts'
import type { DriftedNode } from '#fleet/drift.ts'
import type { NodeInventory } from '#fleet/node-inventory.ts'
import type { CommitNews } from '#gitops/sync/commit-news.ts'
import type { GitopsControl } from '#gitops/thread/control.ts'
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
import type { BehindNodes } from '#server/signing/behind-nodes.ts'
import type { KeyKeeper } from '#server/signing/key-keeper.ts'
import type { ZoneKeys } from '#server/signing/zone-keys.ts'
import type { QueryLog } from '#answer/query-log/query-log.ts'
import type { Discovery } from '#integrations/discovery/discovery.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { RumStore } from '#inputs/rum/rum-store.ts'
import type { EphemeralState } from '#state/ephemeral.ts'

/** A part says with `Has` which of them it needs, and which it gives. */
interface PartOutputs {
  readonly dataDir: DataDir
  readonly key: NodeKey
  readonly shared: EphemeralState
  readonly records: NodeRecords
  /** TSIG keys and TXT records. */
  readonly dynamicDns: DynamicDns
  readonly lookAtDynamicDns: () => Promise<void>
  readonly followDynamicDns: () => void
  /** Keys of zones, in the database. */
  readonly keyVault: NodeKeyVault
  /** Certificates of an ACME server; null: the settings ask for none. */
  readonly certificates: NodeCertificates | null
  /** null: the settings ask for no certificate. */
  readonly acme: NodeAcme | null
  /** Copies of all nodes' journals in the database. */
  readonly journals: JournalKeeper
  /** Regressions of rollouts, with a way to subscribe. */
  readonly regressions: Regressions
  /** null: the listener is off. */
  readonly redirects: RedirectServer | null
  readonly redirectPushes: RedirectPushes
  /** Zones from other servers. */
  readonly inbound: InboundZones
  /** null: no zone is pushed by the settings. */
  readonly zonePushes: ZonePushes | null
  readonly cookies: NodeCookies
  readonly node: DnsNode
  readonly store: BundleStore
  readonly rum: RumStore
  /** null: health checks are off. */
  readonly health: HealthMonitor | null
  readonly resolver: AddressSource
  readonly discovery: Discovery
  readonly geo: GeoSource
  /** Handlers are to be set before the tables are read. */
  readonly geoFeed: GeoFeed
  /** null: it is off in the settings, or the node answers no DNS. */
  readonly clientRegions: ClientRegions | null
  /** null: it is off, or the node answers no DNS. */
  readonly rateLimit: NodeRateLimit | null
  /** null: the settings keep no journal. */
  readonly journal: Journal | null
  /** null: the query log is off. */
  readonly queryLog: QueryLog | null
  /** Keys that sign zones. */
  readonly signing: ZoneKeys
  readonly updates: Updates
  readonly notifier: Notifier
  /** Sets the DNS queries a second that the licence permits; 0: no limit. */
  readonly permit: (perSecond: number) => void
  /** null: the node answers no DNS. */
  readonly dnsPort: number | null
  readonly telemetry: NodeTelemetry
  readonly gitops: GitopsControl
  readonly repacker: Repacker
  /** Seconds from seeing a commit until all responders used it; null: none yet. */
  readonly commitToActiveSeconds: () => number | null
  /** null: there is no shared database to announce by. */
  readonly commitNews: CommitNews | null
  readonly alerts: NodeAlerts
  readonly domains: NodeDomains
  readonly verifyDomains: () => Promise<void>
  /** null: keys of zones are files, which nobody rolls. */
  readonly keyKeeper: KeyKeeper | null
  readonly behindNodes: BehindNodes
  readonly cluster: ClusterView
  /** Reports of nodes that pull. */
  readonly inventory: NodeInventory
  /** Known nodes, each with what is wrong with it. */
  readonly drifted: () => readonly DriftedNode[]
  /** Merges what other control nodes have heard. */
  readonly lookAtFleet: () => Promise<void>
  /** Announces this node to the others. */
  readonly announceNode: () => void
  /** True when the node is to be started again after the stop under way. */
  readonly isRestarting: () => boolean
  /** Delivery of changes in waves. */
  readonly delivery: NodeDelivery
  /** null: the API is off. */
  readonly api: NodeApi | null
  /** null: the API is off. */
  readonly operatorView: OperatorView | null
  /** Samples how busy the DNS threads are. */
  readonly sampleLoad: () => void
  /** Busy share of the busiest DNS thread, 0 to 1. */
  readonly busyRatio: () => number
  /** Bundles of the configuration, for nodes that pull. */
  readonly bundleFeed: BundleFeed
  /** Bundles of the TXT records written at run time, for nodes that pull. */
  readonly textsFeed: BundleFeed
  /** Digest of what is on it now; null: nothing is. */
  readonly textsDigest: () => string | null
  readonly bundleFiles: BundleFiles
  readonly bundleDeltas: BundleDeltas
  readonly packedBundles: PackedBundles
  readonly apiPort: number | null
  readonly licence: NodeLicence
  /** null: no addresses are announced. */
  readonly anycast: NodeAnycast | null
}

export type Has<Name extends keyof PartOutputs> = Pick<PartOutputs, Name>

/** What `createNode` gives. */
export type NodeOutput =
  | ('node' | 'store' | 'rum' | 'health' | 'resolver' | 'discovery' | 'geo' | 'geoFeed')
  | ('clientRegions' | 'rateLimit' | 'journal' | 'queryLog' | 'signing' | 'updates')
  | ('notifier' | 'permit')

/** What `giveBundles` gives. */
export type BundleOutput =
  ('bundleFeed' | 'textsFeed' | 'textsDigest') | ('bundleFiles' | 'bundleDeltas' | 'packedBundles')

/** Outputs for callbacks of earlier parts: each is undefined until its part has started. */
export type Later = Partial<PartOutputs>
