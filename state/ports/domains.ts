// The port to what the last check of each delegated domain has found, shared by all nodes.
import type { StoreCall } from './store-result.ts'

/** What a check may find; a word for programs. */
export const domainFaults = [
  /** Nobody could say which zone the domain is delegated from. */
  'parent-unknown',
  /** No answer in time, or none that fits the question. */
  'no-answer',
  /** It answers REFUSED, SERVFAIL or the like. */
  'refused',
  'bad-answer',
  /** The parent has no NS records for the domain. */
  'no-delegation',
  /** It sends us to another zone than the domain. */
  'wrong-referral',
  /** Its NS records are not those that the zone has. */
  'ns-mismatch',
  /** A name server inside the domain has no address in the parent. RFC 9471. */
  'missing-glue',
  /** Its addresses in the parent are not those that the zone has. */
  'glue-mismatch',
  /** A name server of the domain that is not authoritative for it. RFC 8499 section 7. */
  'lame',
  'no-address',
  /** An address that this node does not ask. */
  'address-refused',
  /** A DS record in the parent of a zone that is not signed. */
  'ds-unexpected',
  'ds-missing',
  'ds-mismatch',
] as const
export type DomainFault = (typeof domainFaults)[number]

/** They say nothing of the delegation itself, as long as another server answers. */
export const domainSilences: ReadonlySet<DomainFault | ''> = new Set([
  'no-answer',
  'refused',
  'bad-answer',
  'no-address',
  'address-refused',
])

/** What one server said. */
export interface DomainCheck {
  /** `parent`: it serves the zone above; `nameserver`: the delegation leads to it. */
  readonly role: 'parent' | 'nameserver'
  /** Its name, in lower case, with the final dot. */
  readonly server: string
  /** The address that was asked; '': none. */
  readonly address: string
  /** Names of NS records, sorted. */
  readonly ns: readonly string[]
  /** DS records in presentation form, sorted; of a server of the parent. */
  readonly ds: readonly string[]
  /** It has answered, but not the question for DS: `ds` is empty, and says nothing. */
  readonly isDsUnknown?: boolean
  /** '': nothing is wrong. */
  readonly code: DomainFault | ''
  /** A sentence; '' where `code` is. */
  readonly error: string
  readonly atMs: number
}

export interface DomainResult {
  /** What was checked: lower case, with the final dot. */
  readonly domain: string
  readonly nsOk: boolean
  readonly dsOk: boolean
  /** The zone has keys, so that the parent should have DS records. */
  readonly dsExpected: boolean
  /** A sentence; '': nothing is wrong. */
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
  /** A result that nobody renews is of a domain that is gone. */
  keptMs: 30 * 24 * 3_600_000,
} as const

export interface Domains {
  /**
   * One node checks a domain at a time.
   *
   * @param times a domain that was checked since `dueBeforeMs` is not due; until `untilMs` nobody
   *   else gets it
   * @returns uids that this caller is to check
   */
  readonly claim: (
    candidates: readonly DomainClaim[],
    times: { readonly nowMs: number; readonly dueBeforeMs: number; readonly untilMs: number },
  ) => StoreCall<ReadonlySet<string>>
  /** Ends the claim; an older result than the stored one is passed over. */
  readonly put: (uid: string, result: DomainResult) => StoreCall<void>
  /** By uid; those that were never checked are not among them. */
  readonly results: (uids: readonly string[]) => StoreCall<ReadonlyMap<string, DomainResult>>
  readonly forget: (uids: readonly string[]) => StoreCall<void>
}
