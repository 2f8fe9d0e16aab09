// Finds the delegated domains on which rights to names rest, in the accepted configuration.
import { domainOfName, domainOwners, hasWholeZone } from '#compiler/lower/record-access.ts'
import type { DomainOwners, RecordZone } from '#compiler/lower/record-access.ts'
import { enclosingZone } from '#compiler/lower/zone-plan.ts'
import { checkName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { domainKey } from './delegation.ts'
import { nameHolding, nameSource } from './name-holder.ts'
import type { ConfigEntry } from './entry.ts'
import type { ConfigSnapshot } from './object-index.ts'

type Domain = ConfigEntry<'DelegatedDomain'>
type Settings = ConfigEntry<'Settings'>['object']

/**
 * Returns the domains without which a tenant could not write at these names; none where the tenant
 * may not write at all, which the compiler reports.
 *
 * @param names lower case, final dot
 * @param coming domains that are declared together with the records
 */
export function domainsBehind(
  snapshot: Pick<ConfigSnapshot, 'list'>,
  tenant: string,
  names: readonly string[],
  coming: readonly Domain[] = [],
): readonly Domain[] {
  const settings = snapshot.list('Settings')[0]?.object
  const zones = settings === undefined ? undefined : zonesOf(settings)
  if (zones === undefined) return []
  const declared = snapshot.list('DelegatedDomain')
  const owners = coming.length === 0 ? ownersOf(declared) : domainOwners([...declared, ...coming])
  const found = new Set<Domain>()
  for (const name of names) {
    const zone = zones.list[enclosingZone(name, zones.at) ?? -1]
    if (zone === undefined || hasWholeZone(tenant, zone)) continue
    const domain = domainOfName(name, zone, owners)
    if (domain?.tenant === tenant) found.add(domain)
  }
  return [...found]
}

/**
 * Returns the domains without which a tenant could not have the name, where `names: owned` requires
 * one.
 * @param name lower case, final dot
 */
export function domainsOwning(
  snapshot: Pick<ConfigSnapshot, 'list' | 'names'>,
  tenant: string,
  name: string,
): readonly Domain[] {
  const source = nameSource(snapshot)
  if (source.settings?.spec.names !== 'owned') return []
  const holding = nameHolding(source, { tenant }, name)
  if (holding.is !== 'own' || holding.by !== 'domain') return []
  const domain = ownersOf(snapshot.list('DelegatedDomain')).get(holding.at)
  return domain === undefined ? [] : [domain]
}

/**
 * Returns the name whose delegation decides whether resolvers ask this cluster for a domain. A
 * domain inside a zone that gives rights by domains has no cut of its own, so it is the zone's.
 * @param domain lower case, final dot
 */
export function delegatedName(snapshot: Pick<ConfigSnapshot, 'list'>, domain: string): string {
  const settings = snapshot.list('Settings')[0]?.object
  const zones = settings === undefined ? undefined : zonesOf(settings)
  const zone = zones?.list[enclosingZone(domain, zones.at) ?? -1]
  return zone?.isByDomain === true ? zone.name : domain
}

interface Zones {
  readonly list: readonly RecordZone[]
  readonly at: ReadonlyMap<string, number>
}

const zonesKnown = new WeakMap<Settings, Zones | undefined>()

/**
 * Returns the zones; undefined where no zone gives rights by domains, as in most configurations
 * with many zones.
 */
function zonesOf(settings: Settings): Zones | undefined {
  if (zonesKnown.has(settings)) return zonesKnown.get(settings)
  const { zones } = settings.spec
  const hasRights = zones.some(({ delegated }) => delegated === true)
  const list: RecordZone[] = []
  const at = new Map<string, number>()
  for (const { name: text, tenants, delegated: isByDomain = false } of hasRights ? zones : []) {
    const name = checkName(text, false).key
    if (name === undefined || at.has(name)) continue
    at.set(name, list.length)
    list.push({ name, recordTenants: tenants, isByDomain })
  }
  const found = hasRights ? { list, at } : undefined
  zonesKnown.set(settings, found)
  return found
}

const ownersKnown = new WeakMap<readonly Domain[], DomainOwners<Domain>>()

/** @param domains key of a cache: the same array while none of the domains changes */
function ownersOf(domains: readonly Domain[]): DomainOwners<Domain> {
  let owners = ownersKnown.get(domains)
  if (owners === undefined) {
    owners = domainOwners(domains)
    ownersKnown.set(domains, owners)
  }
  return owners
}

/** Domains that decide where a tenant may have names. */
export interface TenantDomains {
  /** Lower case, final dot, sorted. */
  readonly own: ReadonlySet<string>
  /** Domains of other tenants inside of `own`. */
  readonly others: ReadonlySet<string>
}

/**
 * Returns the delegated domains of a tenant and the zones that belong to it whole, with those of
 * others inside.
 */
export function tenantDomains(
  snapshot: Pick<ConfigSnapshot, 'list'>,
  tenant: string,
): TenantDomains {
  const own = new Set<string>()
  const others = new Set<string>()
  for (const { object, tenant: holder } of snapshot.list('DelegatedDomain')) {
    const key = domainKey(object.spec.domain)
    if (key !== undefined) (holder === tenant ? own : others).add(key)
  }
  for (const { name, tenants } of snapshot.list('Settings')[0]?.object.spec.zones ?? []) {
    const { key } = checkName(name, false)
    if (key === undefined) continue
    const isOwn = hasWholeZone(tenant, { recordTenants: tenants })
    ;(isOwn ? own : others).add(key)
  }
  const inside = [...others].filter((one) => !own.has(one) && isHeld(own, one))
  return { own: new Set([...own].sort(byCodeUnits)), others: new Set(inside.sort(byCodeUnits)) }
}

const isHeld = (domains: ReadonlySet<string>, name: string): boolean =>
  [...enclosingNames(name)].some((outer) => domains.has(outer))

/**
 * Whether the nearest of these domains at or above the name belongs to the tenant.
 * @param name lower case, final dot
 */
export function isInDomains({ own, others }: TenantDomains, name: string): boolean {
  for (const one of [name, ...enclosingNames(name)]) {
    if (own.has(one)) return true
    if (others.has(one)) return false
  }
  return false
}
