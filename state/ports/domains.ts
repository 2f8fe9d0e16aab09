// The port to the results of the last check of each delegated domain, shared by all nodes.
import type { StoreCall } from './store-result.ts'

/** Codes of faults. */
export type DomainFault =
  /** The zone above the domain could not be determined. */
  | 'parent-unknown'
  /** No answer in time, or none to the question. */
  | 'no-answer'
  /** The server answers REFUSED, SERVFAIL or the like. */
  | 'refused'
  | 'bad-answer'
  /** The parent has no NS records for the domain. */
  | 'no-delegation'
  /** The parent refers to another zone than the domain. */
  | 'wrong-referral'
  /** The parent's NS records differ from those of the zone. */
  | 'ns-mismatch'
  /** A name server inside the domain has no address in the parent. RFC 9471. */
  | 'missing-glue'
  /** Its addresses in the parent differ from those in the zone. */
  | 'glue-mismatch'
  /** A name server of the domain that is not authoritative for it. RFC 8499 section 7. */
  | 'lame'
  | 'no-address'
  /** This node may not query the address. */
  | 'address-refused'
  /** The parent has DS records for an unsigned zone. */
  | 'ds-unexpected'
  | 'ds-missing'
  | 'ds-mismatch'

/** Faults that do not concern the delegation itself, as long as another server answers. */
export const domainSilences: ReadonlySet<DomainFault | ''> = new Set([
  'no-answer',
  'refused',
  'bad-answer',
  'no-address',
  'address-refused',
])

/** The answers of one server. */
export interface DomainCheck {
  /** `parent`: serves the zone above; `nameserver`: the delegation points to it. */
  readonly role: 'parent' | 'nameserver'
  /** Its name, in lower case, with the final dot. */
  readonly server: string
  /** The address queried; '': none. */
  readonly address: string
  /** Names of NS records, sorted. */
  readonly ns: readonly string[]
  /** DS records of a parent's server in presentation form, sorted. */
  readonly ds: readonly string[]
  /** The server did not answer the DS query: `ds` is empty without meaning. */
  readonly isDsUnknown?: boolean
  /** '': no fault. */
  readonly code: DomainFault | ''
  /** A sentence; '' without a fault. */
  readonly error: string
  readonly atMs: number
}

export interface DomainResult {
  /** The domain checked: lower case, with the final dot. */
  readonly domain: string
  readonly nsOk: boolean
  readonly dsOk: boolean
  /** The zone has keys, so the parent should have DS records. */
  readonly dsExpected: boolean
  /** A sentence; '': no fault. */
  readonly error: string
  readonly checks: readonly DomainCheck[]
  readonly verifiedAtMs: number
}

export interface DomainClaim {
  readonly uid: string
  readonly domain: string
}

export interface OwnedDomain extends DomainClaim {
  readonly tenant: string
}

export const domainLimits = {
  /** Characters of a result in the store. */
  resultMax: 262_144,
  /** Age at which a result is dropped: its domain is gone. */
  keptMs: 30 * 24 * 3_600_000,
} as const

export interface Domains {
  /**
   * Claims checks, so that one node checks a domain at a time.
   *
   * @param times domains checked since `dueBeforeMs` are not due; the claim holds until `untilMs`
   * @returns uids that this caller must check
   */
  readonly claim: (
    candidates: readonly DomainClaim[],
    times: { readonly nowMs: number; readonly dueBeforeMs: number; readonly untilMs: number },
  ) => StoreCall<ReadonlySet<string>>
  /** Stores a result and ends the claim; results older than the stored one are ignored. */
  readonly put: (uid: string, result: DomainResult) => StoreCall<void>
  /** By uid, without domains that were never checked. */
  readonly results: (uids: readonly string[]) => StoreCall<ReadonlyMap<string, DomainResult>>
  readonly forget: (uids: readonly string[]) => StoreCall<void>
}
