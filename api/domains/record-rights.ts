// Decides whether a tenant may write records under its delegated domains.
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
 * Refuses records under unverified domains. A commit by hand is reviewed; over the API, the last
 * check must have found the domain verified. Removing records needs no such right.
 *
 * @param tenant that owns the records
 * @param names whole, in lower case, with the final dot
 * @param coming domains that are restored together with the records
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

/** The same for services, redirects and TXT records, where `names: owned` requires a domain. */
export async function unownedRefusal(
  { caller, ports }: Context,
  name: string | undefined,
): Promise<Reply | undefined> {
  return name === undefined ? undefined : await unownedNamesRefusal({ caller, ports }, [name])
}

/** The same for several names, with one look at the results. */
export async function unownedNamesRefusal(
  { caller, ports }: Context,
  names: readonly string[],
): Promise<Reply | undefined> {
  if (caller.isSystemAdmin) return undefined
  const snapshot = ports.config.snapshot()
  const behind = names.flatMap((name) => {
    // A text that is no name is refused elsewhere.
    const { key } = checkHostPattern(name)
    return key === undefined ? [] : domainsOwning(snapshot, caller.tenant, key)
  })
  return await refusalOf(ports, [...new Set(behind)], 'have this name')
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
