// Whose a name is: the one rule for services, records, redirects, delegated domains, TXT records
// and updates.
import { enclosingNames } from '#dns/enclosing-names.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'

/** Something that a tenant has at a name; a delegated domain is none. */
export interface NameClaim {
  readonly tenant: string
  /** No wildcard. At the apex of a zone without `tenants`, those of `default` enclose nothing. */
  readonly isPlainRecord: boolean
}

/** What the settings say of a zone. */
export interface HeldZone {
  /** undefined: the settings do not say, and any tenant may claim what is free in it. */
  readonly recordTenants: readonly string[] | undefined
  /** Tenants may register delegated domains in it. */
  readonly isByDomain: boolean
}

/** What is known of names, each a `heldName`. */
export interface HeldNames<C extends NameClaim = NameClaim> {
  /** `names: owned`: what nobody has given to a tenant cannot be claimed. */
  readonly isOwned: boolean
  /** The tenant of a delegated domain. */
  readonly domainAt: (name: string) => string | undefined
  readonly zoneAt: (name: string) => HeldZone | undefined
  /** Without those of `mayOverlap`. */
  readonly claimsAt: (name: string) => readonly C[]
}

/** A tenant, or the operator, that wants to have something at a name. */
export interface Claimant {
  readonly tenant: string
  /** What it wants is a delegated domain. */
  readonly isDomain?: boolean
  /** What it has at the very name says nothing: it is being judged itself. */
  readonly isJudged?: boolean
}

export type Holding<C extends NameClaim = NameClaim> =
  /** The tenant's. */
  | { readonly is: 'own'; readonly by: 'domain' | 'zone' | 'claim'; readonly at: string }
  /** A domain that gives no right: anybody may register it. */
  | { readonly is: 'own'; readonly by: 'nothing' }
  /** Nobody's: it may be taken where nothing of others is below it. */
  | { readonly is: 'free' }
  /** `names: owned`, and nobody has given it to anybody. */
  | { readonly is: 'unowned' }
  | { readonly is: 'others'; readonly by: 'domain' | 'zone'; readonly at: string }
  | { readonly is: 'others'; readonly by: 'claim'; readonly at: string; readonly claim: C }

/**
 * The name that decides: the part behind a wildcard's asterisk, and behind names with an
 * underscore, which speak for it (RFC 8552): `_acme-challenge.example.com.` gets certificates of
 * `*.example.com.`
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
 * The nearest at the name or above it decides: a delegated domain before what tenants have there,
 * and this before a zone.
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

/** What is known of a name before its levels are looked at. */
export interface SeenName<C extends NameClaim> {
  readonly names: HeldNames<C>
  readonly claimant: Claimant
  readonly zone: ZoneOfName | undefined
}

export interface ZoneOfName extends HeldZone {
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

/** In a zone that is given to tenants, domains say nothing, unless it says that they do. */
function countsDomains(zone: HeldZone | undefined): boolean {
  return zone === undefined || zone.isByDomain || zone.recordTenants === undefined
}

/** What encloses the name alone: it is the same for all names beside it. */
export function holdingAbove<C extends NameClaim>(seen: SeenName<C>, name: string): Holding<C> {
  for (const level of enclosingNames(name)) {
    const holding = holdingAt(seen, level, false)
    if (holding !== undefined) return holding
  }
  return seen.claimant.isDomain === true || !seen.names.isOwned ? free : unowned
}

/** @returns undefined: what is there decides nothing */
export function holdingAt<C extends NameClaim>(
  { names, claimant, zone }: SeenName<C>,
  level: string,
  isItself: boolean,
): Holding<C> | undefined {
  const { tenant, isDomain = false, isJudged = false } = claimant
  const isListed = zone?.recordTenants?.includes(tenant) === true
  const isOwnDomain = isDomain && isItself && isJudged
  // The operator writes in the domains of others, where the zone names it.
  const isOperator = isListed && tenant === defaultTenant
  const isAsked = !isOwnDomain && !isOperator && countsDomains(zone)
  const owner = isAsked ? names.domainAt(level) : undefined
  if (owner !== undefined) {
    return { is: owner === tenant ? 'own' : 'others', by: 'domain', at: level }
  }
  // What others have at an apex encloses nothing of those that share the zone.
  if (isListed && !isDomain && zone.apex === level) return { is: 'own', by: 'zone', at: level }
  const claims = names.claimsAt(level)
  if (isItself && isJudged) {
    // The first of them has the name.
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

function byClaim<C extends NameClaim>(claim: C, at: string): Holding<C> {
  return { is: 'others', by: 'claim', at, claim }
}

/** Whether what another tenant has above takes the name from the tenant. */
function encloses<C extends NameClaim>(
  claim: C,
  { names, claimant, zone }: SeenName<C>,
  level: string,
): boolean {
  const isOpenApex = zone?.apex === level && zone.recordTenants === undefined
  if (isOpenApex && claim.isPlainRecord && claim.tenant === defaultTenant) return false
  const { tenant, isDomain, isJudged } = claimant
  if (isJudged !== true) return true
  // Which sharer of a zone came first does not show; the operator may write everywhere.
  const sharers = zone?.recordTenants ?? []
  const isShared = tenant === defaultTenant || sharers.includes(claim.tenant)
  if (isShared && sharers.includes(tenant)) return false
  if (isDomain !== true) return true
  // A domain may be inside of what was given to another tenant: of these the closest decides.
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

/** What a system administrator has put among the names of others, or somebody who may by hand. */
export function mayOverlap(
  tenant: string,
  metadata: { readonly overlap?: boolean | undefined } | undefined,
): boolean {
  return metadata?.overlap === true && tenant === defaultTenant
}
