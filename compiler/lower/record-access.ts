// Decides who may write records at a name. Nothing else knows these rules.
import { checkHostName } from '#compiler/values/names.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'

/** What the settings say of a zone. */
export interface RecordZone {
  /** Lower case, final dot. */
  readonly name: string
  /** Tenants that may write everywhere in it; undefined: the settings do not say. */
  readonly recordTenants: readonly string[] | undefined
  /** Delegated domains at or below its name give rights in it as well. */
  readonly isByDomain: boolean
}

/** A delegated domain, as far as rights depend on it. */
export interface OwnedDomain {
  readonly tenant: string
  readonly object: { readonly spec: { readonly domain: string } }
}

/** By name, in lower case with the final dot. */
export type DomainOwners<D extends OwnedDomain = OwnedDomain> = ReadonlyMap<string, D>

/** Whether the settings give the whole zone to a tenant: no delegated domain takes that away. */
export function hasWholeZone(tenant: string, { recordTenants }: RecordZone): boolean {
  return recordTenants === undefined ? tenant === defaultTenant : recordTenants.includes(tenant)
}

/** @returns of a name that is registered twice, which is an error, the first */
export function domainOwners<D extends OwnedDomain>(domains: readonly D[]): DomainOwners<D> {
  const owners = new Map<string, D>()
  for (const domain of domains) {
    const { key } = checkHostName(domain.object.spec.domain)
    if (key !== undefined && !owners.has(key)) owners.set(key, domain)
  }
  return owners
}

/**
 * The delegated domain that gives the right to write at a name: the closest one, whoever has it. A
 * domain above the zone says nothing of it.
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
 * A declared domain does here, since a commit is reviewed; the API wants it verified, too. Without
 * `zones[].delegated` a domain does not count: that the parent leads to this cluster does not show
 * whose the domain is, and any tenant may have registered it first.
 */
export function mayWriteRecord(
  tenant: string,
  name: string,
  zone: RecordZone,
  owners: DomainOwners,
): boolean {
  return hasWholeZone(tenant, zone) || domainOfName(name, zone, owners)?.tenant === tenant
}
