// Defines the parts of a DNS node: its threads, its store, and its sources.
import type { TrustedKey } from '#bundle/signature/channel.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { GeoFeed } from '#inputs/geo/geo-link.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import type { Journal } from '#journal/journal.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import type { CreateThreads, ThreadGroupParts } from '#server/threads/threads-port.ts'
import type { ZoneKeys } from '#server/signing/zone-keys.ts'
import type { BundleStore } from './bundle-store.ts'
import type { DynamicFeed } from './dynamic-link.ts'
import type { RegressionEvent } from './overlay-clock.ts'

export interface DnsNodeParts {
  readonly threads: Omit<ThreadGroupParts, 'log' | 'onCrash'>
  readonly createThreads: CreateThreads
  /** null: nothing is stored; for tests and benchmarks. */
  readonly store: BundleStore | null
  readonly trusted: readonly TrustedKey[]
  /** null: health checks are off, every member counts as healthy. */
  readonly health: HealthMonitor | null
  /** null: host names of members are not looked up. */
  readonly resolver?: AddressSource | null
  /** null: no TXT records are written at run time. */
  readonly dynamic?: DynamicFeed | null
  /** Records what answers and the health of members; null: no history is kept. */
  readonly journal?: Pick<Journal, 'serves' | 'settled' | 'poolChanged'> | null
  /** Answers HTTP from each bundle that serves. */
  readonly redirects?: Pick<RedirectServer, 'serve' | 'adopted'> | null
  /** Keys of zones that are signed; left out: they are answered SERVFAIL. */
  readonly signing?: Pick<ZoneKeys, 'handedFor' | 'onChange' | 'stop'> | null
  /** null: the node knows no places of clients. */
  readonly geo: GeoFeed | null
  /** How many names, and members, may wait to be recorded as used; 0: none is recorded. */
  readonly usedMax?: number
  readonly clock: Clock
  readonly log: Log
  /** Called once for each rollout that this node takes back. */
  readonly onRegression?: (event: RegressionEvent) => void
}
