// Finds the name servers that a delegated domain has here, and so should have in its parent.
import { checkHostName, checkName } from '#compiler/values/names.ts'
import type { Nameserver } from '#schemas/objects/zone.ts'
import type { ConfigSnapshot } from './object-index.ts'

interface OwnNameserver {
  /** Lower case, with the final dot. */
  readonly name: string
  readonly addresses: readonly string[]
}

/** Returns a domain in lower case, with the final dot; undefined: it is no host name. */
export function domainKey(domain: string): string | undefined {
  return checkHostName(domain).key
}

/**
 * Returns the name servers of the zone declared for the domain, or the default ones, when the zone
 * names none or no zone is declared.
 *
 * @param domain lower case, with the final dot
 * @returns empty: the settings name none
 */
export function nameserversOf(
  snapshot: Pick<ConfigSnapshot, 'list'>,
  domain: string,
): readonly OwnNameserver[] {
  const spec = snapshot.list('Settings')[0]?.object.spec
  const zone = spec?.zones.find(({ name }) => checkName(name, false).key === domain)
  const declared = zone?.nameservers ?? spec?.defaults?.nameservers ?? []
  return declared.flatMap(own)
}

function own({ name, addresses }: Nameserver): OwnNameserver[] {
  const { key } = checkName(name, false)
  return key === undefined ? [] : [{ name: key, addresses }]
}
