// The type of the snapshot from which metrics are made; the composition fills it.
import type { RequestCount } from '#http/request-counts.ts'
import type { ShownDelivery } from '#ports/deliveries.ts'
import type { SyncState } from '#ports/operator-view.ts'
import type { MemberCounts, NodeMemberCounts, ThreadCounts } from '#state/ports/node-counts.ts'

/** Metrics of one moment. Counts are since the start of the process and never fall. */
export interface MetricsSnapshot {
  readonly build: { readonly version: string; readonly node: string }
  /** Counted in the active bundle; null: there is none yet. */
  readonly objects: Readonly<Record<'zones' | 'services' | 'pools', number>> | null
  /** The first pools; the rest is in one row without names. */
  readonly poolMembers: readonly PoolSnapshot[]
  /** null: this node uses none. */
  readonly isDatabaseUp: boolean | null
  /** null: this node makes no backups, or has made none yet. */
  readonly backupAgeSeconds: number | null
  readonly dataDirectory: DataDirectorySnapshot
  readonly apiRequests: readonly RequestCount[]
  /** null: this node has no API. */
  readonly apiWrites: WriteTimesSnapshot | null
  /** null: this node sends no traces. */
  readonly spans: SpanSnapshot | null
  readonly threads: readonly ThreadSnapshot[]
  readonly tcp: TcpSnapshot
  /** What DNS and the API listen with, by the setting that names it. */
  readonly certificates: readonly { readonly name: string; readonly expiresAtMs: number }[]
  readonly exchange: ExchangeSnapshot
  readonly health: HealthSnapshot
  readonly resolve: ResolveSnapshot
  /** Connected to this node now. */
  readonly feedClients: number
  /** null: it is off. */
  readonly queryLog: QueryLogSnapshot | null
  /** null: this node uses none. */
  readonly isRedisUp: boolean | null
  /** Hits of response rules, by source. */
  readonly responseRules: ReadonlyMap<string, number>
  readonly redirects: RedirectSnapshot
  /** Zones that are pushed to other servers. */
  readonly zonePushes: readonly ZonePushSnapshot[]
  /** null: this node tells of none. */
  readonly alerts: AlertSnapshot | null
  readonly scripts: { readonly benched: number; readonly killed: number }
  /** Zones that are to be signed, and have no key here. */
  readonly zonesWithoutKey: number
  /** Signatures of the thread that signs before anybody asks. */
  readonly signedAhead: { readonly made: number; readonly leftOut: number }
  readonly overlays: OverlaySnapshot
  readonly geo: readonly GeoSnapshot[]
  readonly bundle: BundleSnapshot
  /** null: this node follows no repository. */
  readonly gitops: GitopsSnapshot | null
  /** null: this node pulls no bundles. */
  readonly pull: PullSnapshot | null
  /** null: this node gives none. */
  readonly given: GivenSnapshot | null
  /** null: this node keeps no list of nodes. */
  readonly fleet: FleetSnapshot | null
  /** null: its addresses are not announced. */
  readonly anycast: AnycastSnapshot | null
  /** null: this node keeps none. */
  readonly journal: JournalSnapshot | null
}

export interface WriteTimesSnapshot {
  readonly sumSeconds: number
  /** In order; the last one has no upper bound. */
  readonly classes: readonly {
    readonly uptoSeconds: number
    readonly count: number
    /** The last one with a trace. */
    readonly exemplar: Exemplar | null
  }[]
}

export interface Exemplar {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  readonly seconds: number
  /** Unix epoch. */
  readonly atMs: number
}

/** Spans of traces by what became of them. */
interface SpanSnapshot {
  readonly sent: number
  readonly dropped: number
  readonly refused: number
  readonly waiting: number
}

export interface ZonePushSnapshot {
  readonly target: string
  /** null: nobody has looked yet. */
  readonly isUp: boolean | null
  readonly isHeld: boolean
  readonly written: number
  readonly records: Readonly<
    Record<'same' | 'pending' | 'missing' | 'foreign' | 'conflict' | 'skipped', number>
  >
}

interface JournalSnapshot {
  /** Why it is not written; null: it is. */
  readonly error: string | null
  readonly bytes: number
  readonly losses: number
}

interface AnycastSnapshot {
  readonly isAnnounced: boolean
  readonly isGuarded: boolean
  /** null: nothing was said to it yet. */
  readonly driver: { readonly isReachable: boolean | null }
  readonly counts: Readonly<
    Record<'announced' | 'withdrawn' | 'answered' | 'silent' | 'driverFaults' | 'overruled', number>
  >
}

interface PoolSnapshot extends MemberCounts {
  readonly tenant: string
  readonly pool: string
}

/** Counts of a responder; `thread` is its number from 0. */
export interface ThreadSnapshot extends ThreadCounts {
  readonly thread: number
  /** Part of the time since the last sample that was spent working, 0 to 1. */
  readonly busyRatio: number
  /** By mnemonic: NOERROR, NXDOMAIN … */
  readonly byRcode: Readonly<Record<string, number>>
}

interface TcpSnapshot extends ConnectionSnapshot {
  /** DNS over TLS; null: there is none. */
  readonly secure: SecureSnapshot | null
}

interface SecureSnapshot {
  readonly tls: SecureConnectionSnapshot
  /** DNS over HTTPS; undefined: there is none. */
  readonly https?: SecureConnectionSnapshot | undefined
  /** Requests by what became of them. */
  readonly requests?: Readonly<Record<string, number>> | undefined
}

export interface SecureConnectionSnapshot extends ConnectionSnapshot {
  readonly queries: number
  /** Completed ones, and how many of them resumed a session. */
  readonly handshakes: number
  readonly resumed: number
  readonly handshakesFailed: number
}

interface ConnectionSnapshot {
  readonly open: number
  readonly accepted: number
  readonly refused: number
  readonly evicted: number
}

interface AlertSnapshot {
  readonly opened: number
  readonly resolved: number
  readonly findings: number
  /** By the kind of the channel, of which there are few. */
  readonly delivered: ReadonlyMap<string, { readonly sent: number; readonly failed: number }>
}

interface QueryLogSnapshot {
  readonly written: number
  /** More came than it could write. */
  readonly droppedFull: number
  /** The file or the receiver did not take them. */
  readonly droppedAway: number
  readonly bytes: number
  readonly isUp: boolean
}

interface RedirectSnapshot {
  /** null: the listener is off. */
  readonly listener: {
    readonly open: number
    readonly accepted: number
    readonly refused: number
    readonly logDropped: number
    readonly byStatus: Readonly<Record<string, number>>
  } | null
  readonly targets: readonly {
    readonly target: string
    /** null: nobody has looked yet. */
    readonly isUp: boolean | null
    readonly rules: number
    readonly drift: number
  }[]
}

/** Transfers, updates, NOTIFY and signed messages. */
export interface ExchangeSnapshot {
  readonly transfers: Readonly<
    Record<'started' | 'incremental' | 'current' | 'refused' | 'ended', number>
  >
  /** Transfers of whole zones to those that asked for changes, by the reason. */
  readonly transfersWhole: Readonly<Record<'unknown' | 'old' | 'large', number>>
  readonly transfersRunning: number
  /** Changes of zones that are kept for secondaries. */
  readonly transferHistory: { readonly changes: number; readonly bytes: number }
  /** By mnemonic of their response code. */
  readonly updates: Readonly<Record<string, number>>
  readonly notify: Readonly<Record<'sent' | 'acknowledged' | 'failed', number>>
  /** Zones that come from other servers. */
  readonly inbound: {
    /** How many zones are in each state. */
    readonly states: Readonly<Record<string, number>>
    /** Since a primary server was heard, of the zone that is worst off. */
    readonly ageSeconds: number
    readonly transfers: number
    readonly failures: number
  }
  readonly signedMessages: Readonly<Record<SignedResult, number>>
  /** Keys agreed on with clients by Kerberos. */
  readonly agreedKeys: {
    readonly agreed: number
    readonly failed: number
    readonly open: number
  }
}

/** The last ones as RFC 8945 names them. */
type SignedResult =
  'valid' | 'repeated' | 'malformed' | 'badkey' | 'badsig' | 'badtime' | 'badtrunc'

export interface HealthSnapshot {
  /** By probe type, then outcome: `probes.tcp.success`. */
  readonly probes: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Probes that began later than planned. */
  readonly late: number
  /** How many members this node probes. */
  readonly targets: number
  readonly workerRestarts: number
  readonly members: NodeMemberCounts
  /** Members of whom outside monitors say something now. */
  readonly signalled: { readonly healthy: number; readonly unhealthy: number }
  /** Other nodes that were heard lately; null: this node is alone. */
  readonly peers: number | null
}

/** Host names of members. */
interface ResolveSnapshot {
  readonly hostnames: {
    readonly resolved: number
    readonly stale: number
    readonly unresolved: number
  }
  readonly ageSeconds: number
  /** By reason, of which there are few. */
  readonly failures: Readonly<Record<string, number>>
  /** Left out: nothing is discovered. */
  readonly discovered?: {
    readonly references: Readonly<Record<'found' | 'stale' | 'missing' | 'refused', number>>
    readonly members: number
    readonly held: number
    readonly ageSeconds: number
    readonly failures: Readonly<Record<string, number>>
  }
}

/** Rollouts and maintenance windows of the active bundle, by state. */
export interface OverlaySnapshot {
  readonly rollouts: Readonly<Record<string, number>>
  readonly windows: Readonly<Record<string, number>>
  /** Rollouts that this node has taken back. */
  readonly regressions: number
}

/** A geo database, by the setting that names its file. */
interface GeoSnapshot {
  readonly setting: string
  /** Seconds since the Unix epoch; null: none is in use. */
  readonly buildEpoch: number | null
  readonly networks: number
  /** The file as it is now cannot be used; the tables before it are. */
  readonly isBroken: boolean
}

interface BundleSnapshot {
  /** 0: none yet. */
  readonly seq: number
  /** 0: none yet. */
  readonly serial: number
  /** SHA-256, hex; empty: none yet. */
  readonly digest: string
  /** null: none yet. */
  readonly ageSeconds: number | null
  readonly expired: boolean
  readonly swaps: number
  readonly swapSecondsTotal: number
  readonly swapSecondsLast: number | null
}

/** Pulls from bundle sources. */
interface PullSnapshot {
  /** In the order of the settings. */
  readonly sources: readonly { readonly fault: object | null }[]
  /** null: no contact since the start. */
  readonly contactSecondsAgo: number | null
  /** By how they ended, of which there are few ways. */
  readonly pulls: Readonly<Record<string, number>>
  readonly wireBytes: number
  readonly deltas: { readonly used: number; readonly useless: number }
}

export interface GivenSnapshot {
  readonly waiting: number
  readonly sending: number
  readonly turnedAway: number
}

export interface DataDirectorySnapshot {
  /** The share of its disk, 0 to 1; null: not known. */
  readonly freeRatio: number | null
  readonly isWritable: boolean
}

/** Nodes that pull bundles, with this one. */
export interface FleetSnapshot {
  readonly nodes: number
  /** Nodes that nobody vouches for: they count nowhere. */
  readonly strangers: number
  /** How many there are, by what is wrong with them. */
  readonly drift: Readonly<Record<string, number>>
  /** null: nothing is delivered in waves. */
  readonly delivery: ShownDelivery | null
}

export interface GitopsSnapshot {
  readonly sync: SyncState
  /** Commits, hex; null: none yet. */
  readonly head: string | null
  readonly accepted: string | null
  readonly active: string | null
  /** From the moment the newest accepted commit was seen until all responders used it. */
  readonly commitToActiveSeconds: number | null
  /** Since the remote gave its branch; null: there is no remote, or nobody has looked yet. */
  readonly contactSecondsAgo: number | null
  /** In the repository of the data directory; null: nobody has counted. */
  readonly looseObjects: number | null
  readonly packings: Readonly<Record<'done' | 'failed' | 'no-git', number>>
}
