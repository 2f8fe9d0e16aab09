// Defines the parts of a node that pulls its bundles.
import type { NodeAnycastStatus } from '#node/anycast/node-anycast.ts'
import type { DataDir } from '#process/data/data-dir.ts'
import type { Settings } from '#settings/settings.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { Pulled } from '#fleet/puller.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import type { Journal } from '#journal/journal.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { QueryLog } from '#answer/query-log/query-log.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { PulledTexts } from '#server/texts/pulled-texts.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import type { Pullers } from './pullers.ts'
import type { ZoneExchange } from './zone-exchange.ts'

export interface PulledNode {
  readonly settings: Settings
  readonly dataDir: DataDir
  readonly shared: EphemeralState
  readonly health: HealthMonitor | null
  readonly resolver: AddressSource
  /** null: the node answers no DNS. */
  readonly geo: GeoSource | null
  readonly store: BundleStore
  readonly node: DnsNode
  /** TXT records written at run time; null: the node answers no DNS. */
  readonly texts: PulledTexts | null
  readonly exchange: ZoneExchange | null
  /** null: the query log is off. */
  readonly queryLog: QueryLog | null
  /** null: the listener is off. */
  readonly redirects: RedirectServer | null
  /** null: the settings keep no journal. */
  readonly journal: Journal | null
  readonly puller: Pullers
  /** null: no addresses are announced. */
  readonly anycast: () => NodeAnycastStatus | null
  /** A sentence for each zone that should be signed and has no key here. */
  readonly missingKeys: () => readonly string[]
  /** See PulledKeys. */
  readonly keyTroubles: () => readonly string[]
  /** False: no control node gives keys, without GSLB_BUNDLE_TOKEN. */
  readonly hasToken: boolean
  /** Why control nodes give no keys; empty: one does, or none has any. */
  readonly keysRefusal: () => string
  /** Sentences why keys of zones do not come any more; null: they do. */
  readonly staleKeys: () => string | null
  /** The same of the certificate of the ACME server. */
  readonly staleCertificate: () => string | null
  /** The state of this process for others. */
  readonly report: (pulled: Pulled) => NodeReport
  /** The same report, signed for sending. */
  readonly sealed: (report: NodeReport) => object
}
