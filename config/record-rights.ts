// On which delegated domains the rights to names rest, by the accepted configuration.
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
 * The domains without which a tenant could not write at these names; none where it may not write
 * at all, which the compiler says.
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
 * The domain without which a tenant could not have the name, where `names: owned` asks for one.
 *
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
 * Whose delegation says whether the world asks this cluster for a domain: of a part of a zone that
 * gives rights by domains, the zone's, as there is no cut between them.
 *
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

/** Undefined where no zone gives rights by domains: most have none, and there may be many zones. */
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

/** @param domains the same array for as long as none of them changes */
function ownersOf(domains: readonly Domain[]): DomainOwners<Domain> {
  let owners = ownersKnown.get(domains)
  if (owners === undefined) {
    owners = domainOwners(domains)
    ownersKnown.set(domains, owners)
  }
  return owners
}

/** Where a tenant may have names by what is declared for it. */
export interface TenantDomains {
  /** Lower case, final dot, sorted. */
  readonly own: ReadonlySet<string>
  /** Domains of others inside of `own`. */
  readonly others: ReadonlySet<string>
}

/** Delegated domains of the tenant, and zones that are given to it whole. */
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
 * Whether the nearest of these domains at or above the name is the tenant's.
 *
 * @param name lower case, final dot
 */
export function isInDomains({ own, others }: TenantDomains, name: string): boolean {
  for (const one of [name, ...enclosingNames(name)]) {
    if (own.has(one)) return true
    if (others.has(one)) return false
  }
  return false
}
