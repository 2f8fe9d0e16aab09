// Shows the objects of a tenant to external-dns: records and balanced services as endpoints, and
// the owner of each name by the records of its registry.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { isInDomains, tenantDomains } from '#config/record-rights.ts'
import type { TenantDomains } from '#config/record-rights.ts'
import { plainName, plainTextOf } from '#compiler/values/plain-text.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { endpointTypes, keyOf } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { isOwnershipText, ownerInText, readOwnership } from './ownership.ts'
import type { Ownership } from './ownership.ts'
import { endpointsOfService } from './service-endpoints.ts'

/** The records of one name and type, of one file. */
export interface HeldSet {
  readonly found: ConfigPart<'RecordSet'>
  /** In plain form. */
  readonly texts: readonly string[]
  readonly ttlSeconds: number
}

export interface Held {
  readonly domains: TenantDomains
  /** Names of all zones. */
  readonly zones: ReadonlySet<string>
  /** Ordered by name, type and set identifier. */
  readonly endpoints: readonly Endpoint[]
  readonly byKey: ReadonlyMap<string, Endpoint>
  /** By type and name: `TXT www.example.com.` */
  readonly sets: ReadonlyMap<string, HeldSet>
  /** By name. */
  readonly services: ReadonlyMap<string, HeldService>
  /** By name and set identifier, see `claimKey`; '': its record cannot be read. */
  readonly owners: ReadonlyMap<string, string>
}

export interface HeldService {
  readonly service: ConfigEntry<'Service'>
  /** undefined: it has none. */
  readonly pool: ConfigEntry<'Pool'> | undefined
}

export const claimKey = (name: string, set: string): string => `${name} ${set}`
export const setKey = (type: string, name: string): string => `${type} ${name}`

const known = new WeakMap<ConfigSnapshot, Map<string, Held>>()

/** Worked out once for each commit. */
export function heldBy(snapshot: ConfigSnapshot, tenant: string): Held {
  let ofTenants = known.get(snapshot)
  if (ofTenants === undefined) known.set(snapshot, (ofTenants = new Map<string, Held>()))
  let held = ofTenants.get(tenant)
  if (held === undefined) ofTenants.set(tenant, (held = findHeld(snapshot, tenant)))
  return held
}

function findHeld(snapshot: ConfigSnapshot, tenant: string): Held {
  const domains = tenantDomains(snapshot, tenant)
  const sets = setsOf(snapshot, tenant, domains)
  const services = servicesOf(snapshot, tenant, domains)
  const owners = new Map<string, string>()
  const endpoints: Endpoint[] = []
  for (const [key, set] of sets) {
    const [type = '', name = ''] = key.split(' ')
    if (type === 'TXT') endpoints.push(...textEndpoints(name, set, owners))
    else endpoints.push(recordEndpoint(name, type, set))
  }
  for (const [name, held] of services) endpoints.push(...endpointsOfService(name, held))
  const keyed = endpoints.map((one): [string, Endpoint] => [keyOf(one), one])
  const byKey = new Map(keyed.sort(([a], [b]) => byCodeUnits(a, b)))
  const zones = zonesIn(snapshot)
  return { domains, zones, endpoints: [...byKey.values()], byKey, sets, services, owners }
}

function zonesIn(snapshot: ConfigSnapshot): ReadonlySet<string> {
  const zones = snapshot.list('Settings')[0]?.object.spec.zones ?? []
  return new Set(zones.flatMap(({ name }) => plainName(name) ?? []))
}

function setsOf(
  snapshot: ConfigSnapshot,
  tenant: string,
  domains: TenantDomains,
): ReadonlyMap<string, HeldSet> {
  const sets = new Map<string, HeldSet>()
  for (const owner of snapshot.list('Records')) {
    if (owner.tenant !== tenant) continue
    // What came in gives way to what is written here.
    if (owner.object.spec.transfer !== undefined) continue
    const parts = partsIn('RecordSet', owner)
    for (const { index, name, type, ttlSeconds, rdata } of readRecords(owner.object.spec).rrsets) {
      const isShown = endpointTypes.includes(type.name) || type.name === 'ALIAS'
      const part = parts[index]
      if (!isShown || part === undefined || !isInDomains(domains, name)) continue
      const texts = rdata.map((one) => plainTextOf(type.code, one)).sort(byCodeUnits)
      const found = { owner, part, position: index }
      sets.set(setKey(type.name, name), { found, texts, ttlSeconds })
    }
  }
  return sets
}

function servicesOf(
  snapshot: ConfigSnapshot,
  tenant: string,
  domains: TenantDomains,
): ReadonlyMap<string, HeldService> {
  const services = new Map<string, HeldService>()
  for (const service of snapshot.list('Service')) {
    const name = service.tenant === tenant ? plainName(service.object.spec.domain) : undefined
    if (name === undefined || !isInDomains(domains, name)) continue
    const { pool } = service.object.spec
    const attached = pool === null ? undefined : snapshot.find('Pool', tenant, pool)
    services.set(name, { service, pool: attached })
  }
  return services
}

const plain = { set: '', labels: {}, properties: {}, isOwnership: false } as const

/** An ALIAS is what external-dns asks for as a CNAME with `alias`. */
function recordEndpoint(name: string, type: string, { texts, ttlSeconds }: HeldSet): Endpoint {
  const isAlias = type === 'ALIAS'
  return {
    ...{ ...plain, name, type: isAlias ? 'CNAME' : type, ttlSeconds, targets: texts },
    properties: isAlias ? { alias: 'true' } : {},
  }
}

/** The texts of a name: those of people together, those of the registry by set identifier. */
function textEndpoints(
  name: string,
  { texts, ttlSeconds }: HeldSet,
  owners: Map<string, string>,
): Endpoint[] {
  const others = texts.filter((text) => !isOwnershipText(text))
  const read = texts.filter(isOwnershipText).map((text) => readOwnership(name, text))
  for (const { of, set, owner } of read) {
    const key = claimKey(of, set)
    if (owner !== '' || !owners.has(key)) owners.set(key, owner)
  }
  const bySet = Map.groupBy(read, ({ set }) => set)
  return [
    ...(others.length === 0 ? [] : [{ ...plain, name, type: 'TXT', ttlSeconds, targets: others }]),
    ...[...bySet].map(([set, list]) => ({
      ...{ ...plain, name, type: 'TXT', ttlSeconds, set, isOwnership: true },
      targets: list.map(({ text }: Ownership) => text).sort(byCodeUnits),
    })),
  ]
}

/** Owners by a TXT record that a request writes. */
export function ownersIn({ targets }: Endpoint): readonly string[] {
  return targets.map(ownerInText).filter((owner) => owner !== '')
}
