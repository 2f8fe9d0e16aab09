// Which tenant may write records at a name: the one whose service is there, or encloses it.
import { enclosingNames } from '#compiler/values/names.ts'
import type { ConfigEntry } from './entry.ts'
import type { ConfigSnapshot } from './object-index.ts'

/** Kept for as long as nothing changes in the list. */
const holders = new WeakMap<readonly ConfigEntry<'Service'>[], ReadonlyMap<string, string>>()

/**
 * The nearest enclosing service decides, so that nobody writes below a name of somebody else; a
 * wildcard counts where its own name has no service: the challenge of ACME for `*.example.com.` is
 * at `_acme-challenge.example.com.` (RFC 8555 section 8.4).
 *
 * @param name in lower case, with the final dot. @returns undefined: no tenant has a service there
 */
export function nameHolder(snapshot: ConfigSnapshot, name: string): string | undefined {
  // `a\.b.` is one label, and `enclosingNames` would take it for two.
  if (name.includes('\\')) return undefined
  const tenants = tenantsByDomain(snapshot)
  for (const key of [name, ...enclosingNames(name)]) {
    const holder = tenants.get(key) ?? tenants.get(`*.${key}`)
    if (holder !== undefined) return holder
  }
  return undefined
}

/** Apexes of the zones that this server answers for; the nearest one that encloses the name. */
export function zoneOf(snapshot: ConfigSnapshot, name: string): string | undefined {
  const apexes = new Set(zonesOf(snapshot))
  return [name, ...enclosingNames(name)].find((key) => apexes.has(key))
}

export function zonesOf(snapshot: ConfigSnapshot): readonly string[] {
  return snapshot
    .list('Settings')
    .flatMap(({ object }) => object.spec.zones.map((zone) => keyOf(zone.name)))
}

function tenantsByDomain(snapshot: ConfigSnapshot): ReadonlyMap<string, string> {
  const services = snapshot.list('Service')
  const known = holders.get(services)
  if (known !== undefined) return known
  const made = new Map(services.map(({ object, tenant }) => [keyOf(object.spec.domain), tenant]))
  holders.set(services, made)
  return made
}

const keyOf = (domain: string): string => `${domain.toLowerCase().replace(/\.$/, '')}.`
