// The parts of a node that pulls its bundles.
import type { NodeAnycastStatus } from '#node/anycast/node-anycast.ts'
import type { DataDir } from '#node/data/data-dir.ts'
import type { Settings } from '#settings/settings.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { Pulled } from '#fleet/puller.ts'
import type { GeoSource } from '#inputs/geo/geo-source.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import type { Journal } from '#journal/journal.ts'
import type { DnsNode } from '#server/node/node.ts'
import type { QueryLog } from '#answer/query-log/query-log.ts'
import type { HostnameResolver } from '#inputs/resolve/hostname-resolver.ts'
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
  readonly resolver: HostnameResolver
  /** null: it answers nobody. */
  readonly geo: GeoSource | null
  readonly store: BundleStore
  readonly node: DnsNode
  /** TXT records written at run time; null: as before. */
  readonly texts: PulledTexts | null
  readonly exchange: ZoneExchange | null
  /** null: it is off. */
  readonly queryLog: QueryLog | null
  /** null: the listener is off. */
  readonly redirects: RedirectServer | null
  /** null: the settings want none. */
  readonly journal: Journal | null
  readonly puller: Pullers
  /** null: its addresses are not announced. */
  readonly anycast: () => NodeAnycastStatus | null
  /** A sentence for each zone that is to be signed and has no key here. */
  readonly missingKeys: () => readonly string[]
  /** What this process says of itself. */
  readonly report: (pulled: Pulled) => NodeReport
  /** The same as it is sent. */
  readonly sealed: (report: NodeReport) => object
}
