// The encoder's input: the accepted configuration, resolved. Defaults are applied, names are
// checked, references are positions in the arrays. All fields are present.

import type { ProbeFieldModels, ProbeTypeName } from '#probes/probe-types.ts'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { plainValues } from './routing-text.ts'
import type { RoutingValues } from './routing-text.ts'

/** One commit's configuration. The encoder sorts; the order of the arrays does not matter. */
export interface BundleModel {
  /** Commit id in hex, or empty when the tree came from a directory. */
  readonly commit: string
  readonly zones: readonly ZoneModel[]
  readonly pools: readonly PoolModel[]
  readonly services: readonly ServiceModel[]
  /** At most one for each owner and type. */
  readonly rrsets: readonly RrsetModel[]
  readonly routing: RoutingModel
  readonly responseRules: readonly ResponseRuleModel[]
  readonly redirects: readonly RedirectModel[]
  readonly rollouts: readonly RolloutModel[]
  readonly windows: readonly WindowModel[]
}

/** A response rule. */
export interface ResponseRuleModel {
  readonly uid: string
  readonly triggerType: 'exact' | 'domain'
  /** Lower case, presentation format, trailing dot. */
  readonly trigger: string
  readonly action: 'nxdomain' | 'passthru' | 'cname'
  /** Target of `cname`, in the form of `trigger`; empty otherwise. */
  readonly target: string
  /** Its answers are signed where it applies in a signed zone. */
  readonly signed: boolean
  readonly source: string
}

/** A ramp of one member's weight, with the intents recorded since. */
export interface RolloutModel {
  readonly uid: string
  readonly name: string
  readonly tenant: string
  /** Position in `pools`. */
  readonly pool: number
  /** Position in the pool's `members`. */
  readonly member: number
  /** The weight that the steps are percentages of. */
  readonly baseWeight: number
  /** Unix epoch. */
  readonly startAtMs: number
  readonly steps: readonly RolloutStepModel[]
  readonly regressionPolicy: RegressionPolicyModel
  /** In the order of their times. */
  readonly intents: readonly RolloutIntentModel[]
}

/** A zero switches off the check. */
export interface RegressionPolicyModel {
  /** 0 to 1. */
  readonly minHealthScore: number
  readonly minHealthyMembers: number
  readonly maxRttDeltaMs: number
}

export interface RolloutStepModel {
  readonly weightPct: number
  /** 0: until a promotion. */
  readonly holdSeconds: number
}

export interface RolloutIntentModel {
  readonly intent: 'pause' | 'promote' | 'abort'
  readonly atMs: number
}

/** A period in which a member, or each member of a pool, is out of rotation. */
export interface WindowModel {
  readonly uid: string
  readonly name: string
  readonly tenant: string
  /** Position in `pools`. */
  readonly pool: number
  /** Position in the pool's `members`, or -1: all members. */
  readonly member: number
  /** Uids of the members held out, in the pool or not; null: the file lists none. */
  readonly members: readonly string[] | null
  readonly startAtMs: number
  /** Excluded. */
  readonly endAtMs: number
}

/** The repository's settings for choosing members. */
export interface RoutingModel extends RoutingValues {
  /** `mapFile.rules` as disjoint ranges; an endpoint list holds the matching rules in order. */
  readonly mapRules: ClientRanges
  /** In the order in which they are tried. */
  readonly asnRules: readonly AsnRuleModel[]
  /** `geoip.endpointLocations`. */
  readonly endpointLocations: readonly EndpointLocationModel[]
  /** Client networks exempt from rate limits. Left out: none. */
  readonly rateLimitExempt?: readonly string[]
  /** By name: whether transfers of a zone have its digest. Others: as the node is set. */
  readonly zoneDigests?: Readonly<Record<string, boolean>>
  /** Zones from elsewhere whose records are not here: lower case, final dot. Left out: none. */
  readonly absentZones?: readonly string[]
}

/** The values without settings: the defaults. */
export const plainRouting: RoutingModel = Object.freeze({
  mapRules: { v4: [], v6: [] },
  asnRules: [],
  endpointLocations: [],
  ...plainValues,
})

/** Disjoint ranges of client addresses, ascending; other addresses have no preference. */
export interface ClientRanges {
  readonly v4: readonly ClientRange<number>[]
  readonly v6: readonly ClientRange<bigint>[]
}

export interface ClientRange<Address> {
  readonly start: Address
  /** Included. */
  readonly end: Address
  /** Addresses of members, the most preferred first. */
  readonly endpoints: readonly string[]
}

/** Matches by number, by organisation, or by both: the number is compared first. */
export interface AsnRuleModel {
  /** null: any. */
  readonly asn: number | null
  /** Part of the organisation's name, case-insensitive; empty: any. */
  readonly org: string
  readonly endpoint: string
}

interface EndpointLocationModel {
  readonly endpoint: string
  /** Degrees. */
  readonly lat: number
  readonly lon: number
}

/** An apex that this server is authoritative for. */
export interface ZoneModel {
  /** Lower case, presentation format, trailing dot. */
  readonly name: string
  /** Zones with equal SOA and name servers share these objects, and then share bytes. */
  readonly soa: SoaModel
  /** TTL of the NS rrset and of the addresses of its servers. */
  readonly nsTtlSeconds: number
  readonly nameservers: readonly NameserverModel[]
  /** Number of its signing algorithm. Left out: the zone is not signed. */
  readonly algorithm?: number
  /** It is signed, and answers what keys the zones have that its hosts serve. RFC 9615. */
  readonly hasSignals?: true
  /** Flags of its CSYNC record. RFC 7477 section 2.1.1.2. Left out: it has none. */
  readonly csync?: number
}

/** RFC 1035 section 3.3.13. The serial is in the channel record and is set at activation. */
export interface SoaModel {
  /** Added to that serial, modulo 2^32. */
  readonly serialBase: number
  readonly mname: string
  readonly rname: string
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
  /** Negative caching time, RFC 2308 section 4. */
  readonly minimumSeconds: number
  readonly ttlSeconds: number
}

export interface NameserverModel {
  readonly name: string
  /** Served as A and AAAA when the name is inside the zone; empty for other names. */
  readonly addresses: readonly string[]
}

/** Static records of one owner and type. */
export interface RrsetModel {
  /** Lower case, presentation format, trailing dot; the first label may be `*`. */
  readonly name: string
  /** Position in `zones` of the zone that contains it: for DS at an apex of ours, the parent. */
  readonly zone: number
  /** Code of the RR type. */
  readonly type: number
  readonly ttlSeconds: number
  /**
   * Wire form, names uncompressed and in their written letter case; no duplicates; canonical order
   * (RFC 4034 section 6.3).
   */
  readonly rdata: readonly Uint8Array[]
}

/** Fields of a pool as written, under their names in the file. */
export interface PoolAsWritten {
  /** `cname`: each member has a host name, and the reply is an alias for one of them. */
  readonly answer: 'addresses' | 'cname'
  /** With fewer healthy members the pool answers nothing; 0: no limit. */
  readonly minHealthy: number
}

const asWritten: Readonly<Record<keyof PoolAsWritten, true>> = { answer: true, minHealthy: true }
export const poolFieldsAsWritten = Object.freeze(
  Object.keys(asWritten),
) as readonly (keyof PoolAsWritten)[]

export interface PoolModel extends PoolAsWritten {
  /** UUID in its 36-character form. */
  readonly uid: string
  readonly name: string
  readonly tenant: string
  readonly members: readonly MemberModel[]
  /** null: no probes, every member counts as healthy. */
  readonly healthCheck: HealthCheckModel | null
  /** Endpoint lists are sorted by longest prefix, then by lower priority. */
  readonly geoRules: ClientRanges
}

export interface MemberModel {
  readonly uid: string
  /** Empty when the file gives no label. */
  readonly name: string
  /** Empty: the member has a host name. */
  readonly ipAddress: string
  /**
   * Lower case, presentation format, trailing dot; empty: it has an address. It begins
   * with `from:` where addresses are discovered; see bundle/discovered/from.ts.
   */
  readonly hostname: string
  readonly port: number
  /** 0 gets no traffic. */
  readonly weight: number
  /** 1 is preferred to 2; 0 is unset and comes last. */
  readonly priority: number
  readonly enabled: boolean
  /** `unknown` when unset. */
  readonly region: string
  /** Probes in a row that must pass before the member is used; 0: no gate. */
  readonly warmupThreshold: number
  /** Empty: browsers do not measure it. */
  readonly rumUrl: string
  readonly externalSignalMode: ExternalSignalMode
}

export type ExternalSignalMode = 'and' | 'or' | 'override'

/** Field names and units of the API; all defaults applied. Fields of all types: `probes/`. */
export interface HealthCheckModel extends ProbeFieldModels {
  readonly type: ProbeTypeName
  readonly port: number
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Probes that make up a score; 0: no score. */
  readonly scoreWindow: number
  /** Successes in a row that make an unhealthy member healthy. */
  readonly riseCount: number
  /** Failures in a row that make a healthy member unhealthy. */
  readonly fallCount: number
}

export interface ServiceModel {
  readonly uid: string
  readonly name: string
  readonly tenant: string
  /** Lower case, presentation format, trailing dot; the first label may be `*` (RFC 4592). */
  readonly domain: string
  /** Position in `zones` of the closest enclosing zone. */
  readonly zone: number
  /** A way of routing/choose/ways.ts; ignored when there is a chain. */
  readonly algorithm: string
  /** Ways of routing/choose/ways.ts; empty: the algorithm chooses. */
  readonly filterChain: readonly string[]
  readonly onAllDown: OnAllDown
  /** Addresses in one reply, at most. */
  readonly answerCount: number
  readonly ttlSeconds: number
  /** Position in `pools`, or -1: no records are served. */
  readonly pool: number
}

/**
 * The answer when no member is available: nothing, every enabled member whatever its health, or the
 * members of the pool at this position in `pools`.
 */
export type OnAllDown = 'empty' | 'all' | { readonly pool: number }
