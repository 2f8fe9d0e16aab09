// Decides which tenant holds a name: the one rule for services, records, redirects, delegated
// domains, TXT records and updates.
import { enclosingNames } from '#dns/enclosing-names.ts'
import type { Kind } from '#schemas/kinds.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'

/** An object of a tenant at a name, other than a delegated domain. */
export interface NameClaim {
  readonly tenant: string
  /**
   * A record whose name is no wildcard. At the apex of a zone without `tenants`, such records of
   * `default` do not enclose names below.
   */
  readonly isPlainRecord: boolean
  /**
   * `over`: a service or record declared at this very name. `under`: it came by zone transfer, and
   * counts only at a name without an `over`.
   */
  readonly layer: ClaimLayer
}

export type ClaimLayer = 'over' | 'under' | 'beside'

export function layerOf(
  kind: Kind,
  { isTransferred, isItself }: { readonly isTransferred: boolean; readonly isItself: boolean },
): ClaimLayer {
  if (isTransferred) return 'under'
  return isItself && (kind === 'Service' || kind === 'Records') ? 'over' : 'beside'
}

/** The settings of a zone that matter to holders. */
export interface HeldZone {
  /** undefined: not set; any tenant may claim free names in the zone. */
  readonly recordTenants: readonly string[] | undefined
  /** Tenants may register delegated domains in it. */
  readonly isByDomain: boolean
}

/** The state of names, each given as a `heldName`. */
export interface HeldNames<C extends NameClaim = NameClaim> {
  /** `names: owned`: only names given to a tenant can be claimed. */
  readonly isOwned: boolean
  /** The tenant of a delegated domain. */
  readonly domainAt: (name: string) => string | undefined
  readonly zoneAt: (name: string) => HeldZone | undefined
  /** All claims except those of `mayOverlap`. */
  readonly claimsAt: (name: string) => readonly C[]
}

/** A tenant, or the operator, that wants to claim a name. */
export interface Claimant {
  readonly tenant: string
  /** The claim is a delegated domain. */
  readonly isDomain?: boolean
  /** Its existing claims at the very name do not count: they are being judged. */
  readonly isJudged?: boolean
  /** Layer of what is to be declared at the name. */
  readonly layer?: ClaimLayer
}

export type Holding<C extends NameClaim = NameClaim> =
  /** The tenant holds it. */
  | { readonly is: 'own'; readonly by: 'domain' | 'zone' | 'claim'; readonly at: string }
  /** Held by a domain that gives no right: anybody may register it. */
  | { readonly is: 'own'; readonly by: 'nothing' }
  /** Held by nobody: it can be claimed unless others have claims below it. */
  | { readonly is: 'free' }
  /** `names: owned`, and the name was not given to any tenant. */
  | { readonly is: 'unowned' }
  | { readonly is: 'others'; readonly by: 'domain' | 'zone'; readonly at: string }
  | { readonly is: 'others'; readonly by: 'claim'; readonly at: string; readonly claim: C }

/**
 * The name whose holder counts: without a wildcard's asterisk, and without labels with an
 * underscore, which act for the name behind them (RFC 8552): `_acme-challenge.example.com.` gets
 * certificates of `*.example.com.`
 *
 * @param name lower case, presentation form, final dot
 */
export function heldName(name: string): string {
  let held = name.startsWith('*.') && name.length > 2 ? name.slice(2) : name
  if (!held.includes('_')) return held
  const labels = [held, ...enclosingNames(held)]
  const last = labels.findLastIndex((label) => label.startsWith('_'))
  if (last >= 0 && last + 1 < labels.length) held = labels[last + 1]!
  return held
}

/**
 * The closest level at the name or above it decides: a delegated domain before claims at that
 * level, and claims before a zone.
 *
 * @param name a `heldName`
 */
export function holdingOf<C extends NameClaim>(
  names: HeldNames<C>,
  claimant: Claimant,
  name: string,
): Holding<C> {
  const zone = zoneOfName(names, name)
  if (claimant.isDomain === true && !countsDomains(zone)) return nothing
  const seen = { names, claimant, zone }
  return holdingAt(seen, name, true) ?? holdingAbove(seen, name)
}

/** The inputs that are the same for all levels of a name. */
interface SeenName<C extends NameClaim> {
  readonly names: HeldNames<C>
  readonly claimant: Claimant
  readonly zone: ZoneOfName | undefined
}

interface ZoneOfName extends HeldZone {
  readonly apex: string
}

/** The closest declared zone. */
export function zoneOfName(names: Pick<HeldNames, 'zoneAt'>, name: string): ZoneOfName | undefined {
  for (const apex of [name, ...enclosingNames(name)]) {
    const zone = names.zoneAt(apex)
    if (zone === undefined) continue
    const { recordTenants, isByDomain } = zone
    return { apex, recordTenants, isByDomain }
  }
  return undefined
}

/** In a zone given to tenants, delegated domains count only if the zone says so. */
function countsDomains(zone: HeldZone | undefined): boolean {
  return zone === undefined || zone.isByDomain || zone.recordTenants === undefined
}

/** The holding by levels above the name: the same for all its siblings. */
export function holdingAbove<C extends NameClaim>(seen: SeenName<C>, name: string): Holding<C> {
  for (const level of enclosingNames(name)) {
    const holding = holdingAt(seen, level, false)
    if (holding !== undefined) return holding
  }
  return seen.claimant.isDomain === true || !seen.names.isOwned ? free : unowned
}

/** @returns undefined: this level does not decide */
export function holdingAt<C extends NameClaim>(
  { names, claimant, zone }: SeenName<C>,
  level: string,
  isItself: boolean,
): Holding<C> | undefined {
  const { tenant, isDomain = false, isJudged = false, layer } = claimant
  const isListed = zone?.recordTenants?.includes(tenant) === true
  const isOwnDomain = isDomain && isItself && isJudged
  // The operator may write in domains of others where the zone lists it.
  const isOperator = isListed && tenant === defaultTenant
  const isAsked = !isOwnDomain && !isOperator && countsDomains(zone)
  const owner = isAsked ? names.domainAt(level) : undefined
  if (owner !== undefined) {
    return { is: owner === tenant ? 'own' : 'others', by: 'domain', at: level }
  }
  // Claims at an apex do not enclose names of tenants that share the zone.
  if (isListed && !isDomain && zone.apex === level) return { is: 'own', by: 'zone', at: level }
  const claims = countedClaims(names.claimsAt(level), isItself && layer === 'over')
  if (isItself && isJudged) {
    // The first claim holds the name.
    const [first] = claims
    if (first !== undefined && first.tenant !== tenant) return byClaim(first, level)
  } else if (claims.some((claim) => claim.tenant === tenant)) {
    return { is: 'own', by: 'claim', at: level }
  } else {
    const other = claims.find(
      (claim) => isItself || encloses(claim, { names, claimant, zone }, level),
    )
    if (other !== undefined) return byClaim(other, level)
  }
  return zone?.apex === level ? holdingIn(names, tenant, isDomain, zone) : undefined
}

/** What came by transfer was there first, and gives way to what is declared at its name. */
function countedClaims<C extends NameClaim>(
  claims: readonly C[],
  isToBeOver: boolean,
): readonly C[] {
  if (!claims.some(isUnder)) return claims
  const declared = claims.filter((claim) => !isUnder(claim))
  const isOver = isToBeOver || declared.some(({ layer }) => layer === 'over')
  return isOver ? declared : [...claims.filter(isUnder), ...declared]
}

const isUnder = ({ layer }: NameClaim): boolean => layer === 'under'

function byClaim<C extends NameClaim>(claim: C, at: string): Holding<C> {
  return { is: 'others', by: 'claim', at, claim }
}

/** Whether a claim of another tenant above takes the name from the claimant. */
function encloses<C extends NameClaim>(
  claim: C,
  { names, claimant, zone }: SeenName<C>,
  level: string,
): boolean {
  const isOpenApex = zone?.apex === level && zone.recordTenants === undefined
  if (isOpenApex && claim.isPlainRecord && claim.tenant === defaultTenant) return false
  const { tenant, isDomain, isJudged } = claimant
  if (isJudged !== true) return true
  // Sharers of a zone do not exclude each other, since their order is unknown; the operator may
  // write everywhere.
  const sharers = zone?.recordTenants ?? []
  const isShared = tenant === defaultTenant || sharers.includes(claim.tenant)
  if (isShared && sharers.includes(tenant)) return false
  if (isDomain !== true) return true
  // A domain may lie inside a name given to another tenant: the closest of them decides.
  const outer = { names, claimant: { tenant: claim.tenant, isJudged: true }, zone }
  const holding = zone?.apex === level ? holdingAt(outer, level, false) : holdingAbove(outer, level)
  return holding?.is !== 'own' || holding.by === 'claim'
}

/** A declared zone decides, whatever encloses it. */
function holdingIn(
  { isOwned }: Pick<HeldNames, 'isOwned'>,
  tenant: string,
  isDomain: boolean,
  { recordTenants, isByDomain, apex: at }: ZoneOfName,
): Holding<never> {
  if (recordTenants === undefined) {
    return tenant === defaultTenant || isDomain || !isOwned ? free : unowned
  }
  if (recordTenants.includes(tenant)) return { is: 'own', by: 'zone', at }
  return isDomain && isByDomain ? free : { is: 'others', by: 'zone', at }
}

const free = Object.freeze({ is: 'free' })
const unowned = Object.freeze({ is: 'unowned' })
const nothing = Object.freeze({ is: 'own', by: 'nothing' })

/** True for an object that a system administrator may place among names of others, by `overlap`. */
export function mayOverlap(
  tenant: string,
  metadata: { readonly overlap?: boolean | undefined } | undefined,
): boolean {
  return metadata?.overlap === true && tenant === defaultTenant
}
