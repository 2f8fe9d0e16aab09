// Decides who may write records at a name. No other code knows these rules.
import { checkHostName } from '#compiler/values/names.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'

/** The settings of a zone that matter to writers of records. */
export interface RecordZone {
  /** Lower case, final dot. */
  readonly name: string
  /** Tenants that may write everywhere in it; undefined: not set. */
  readonly recordTenants: readonly string[] | undefined
  /** Delegated domains at or below its name give rights in it, too. */
  readonly isByDomain: boolean
}

/** The fields of a delegated domain that decide about rights. */
interface OwnedDomain {
  readonly tenant: string
  readonly object: { readonly spec: { readonly domain: string } }
}

/** By name, in lower case with the final dot. */
export type DomainOwners<D extends OwnedDomain = OwnedDomain> = ReadonlyMap<string, D>

/** Whether the settings give the whole zone to a tenant: delegated domains do not take it away. */
export function hasWholeZone(
  tenant: string,
  { recordTenants }: Pick<RecordZone, 'recordTenants'>,
): boolean {
  return recordTenants === undefined ? tenant === defaultTenant : recordTenants.includes(tenant)
}

/** @returns for a name registered twice, which is an error, the first one */
export function domainOwners<D extends OwnedDomain>(domains: readonly D[]): DomainOwners<D> {
  const owners = new Map<string, D>()
  for (const domain of domains) {
    const { key } = checkHostName(domain.object.spec.domain)
    if (key !== undefined && !owners.has(key)) owners.set(key, domain)
  }
  return owners
}

/**
 * The delegated domain that decides who may write at a name: the closest one, of any tenant.
 * Domains above the zone do not count.
 *
 * @param name lower case, presentation form, final dot
 */
export function domainOfName<D extends OwnedDomain>(
  name: string,
  zone: RecordZone,
  owners: DomainOwners<D>,
): D | undefined {
  if (!zone.isByDomain || owners.size === 0 || !isInside(name, zone.name)) return undefined
  const own = owners.get(name)
  if (own !== undefined || name === zone.name) return own
  for (const outer of enclosingNames(name)) {
    const domain = owners.get(outer)
    if (domain !== undefined || outer === zone.name) return domain
  }
  return undefined
}

/**
 * A declared domain is enough here, since a commit is reviewed; the API also requires it to be
 * verified. Without `zones[].delegated` a domain does not count: delegation to this cluster does
 * not prove whose the domain is, and any tenant may have registered it first.
 */
export function mayWriteRecord(
  tenant: string,
  name: string,
  zone: RecordZone,
  owners: DomainOwners,
): boolean {
  return hasWholeZone(tenant, zone) || domainOfName(name, zone, owners)?.tenant === tenant
}
