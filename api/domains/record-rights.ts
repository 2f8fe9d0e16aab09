// What a delegated domain must have shown before the API writes records by its right.
import type { ConfigEntry } from '#config/entry.ts'
import { checkHostPattern } from '#compiler/values/names.ts'
import { domainsBehind, domainsOwning } from '#config/record-rights.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { RouteContext } from '#api/route/route.ts'
import { storeFailed } from '#http/store-reply.ts'
import { claimOf } from './domain-json.ts'

type Context = Pick<RouteContext<'config' | 'domains'>, 'caller' | 'ports'>
type Domain = ConfigEntry<'DelegatedDomain'>

/**
 * A commit by hand is reviewed; here the last check must have found the domain verified. What goes
 * needs no such right: a tenant can always clear its own records away.
 *
 * @param tenant whose records they are @param names whole, lower case, final dot
 * @param coming domains that come back together with the records
 */
export async function unverifiedRefusal(
  { ports }: Context,
  tenant: string,
  names: readonly string[],
  coming: readonly Domain[] = [],
): Promise<Reply | undefined> {
  const behind = domainsBehind(ports.config.snapshot(), tenant, names, coming)
  return await refusalOf(ports, behind, 'write these records')
}

/** The same of services, redirects and TXT records, where `names: owned` wants a domain. */
export async function unownedRefusal(
  { caller, ports }: Context,
  name: string | undefined,
): Promise<Reply | undefined> {
  // What is no name is refused as such.
  const { key } = checkHostPattern(name ?? '')
  if (caller.isSystemAdmin || key === undefined) return undefined
  const behind = domainsOwning(ports.config.snapshot(), caller.tenant, key)
  return await refusalOf(ports, behind, 'have this name')
}

async function refusalOf(
  ports: Context['ports'],
  behind: readonly Domain[],
  what: string,
): Promise<Reply | undefined> {
  if (behind.length === 0) return undefined
  const found = await ports.domains.results(behind.map(({ uid }) => uid))
  if (!found.ok) return storeFailed(found.error)
  for (const entry of behind) {
    const { uid, domain } = claimOf(entry)
    const result = found.value.get(uid)
    if (result?.domain === domain && result.nsOk) continue
    return refused(
      409,
      `the right to ${what} comes with the domain ${domain}, which is not verified: ` +
        `POST /api/v1/domains/${uid}/verify checks it now and says what is missing`,
    )
  }
  return undefined
}
