// Defines the JSON of a delegated domain: its declaration in Git, and the result of its last check.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { domainKey } from '#config/delegation.ts'
import { DelegatedDomainSpec } from '#schemas/objects/delegated-domain.ts'
import type { DomainResult, OwnedDomain } from '#state/ports/domains.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'
import { plain } from '#api/resources/fields.ts'

const Check = Type.Object({
  role: Type.String({
    description: '`parent`: a server of the zone above; `nameserver`: one of the delegation',
  }),
  server: Type.String({ description: 'Its name; empty when none was found' }),
  address: Type.String({ description: 'The address that was asked; empty: none' }),
  ns: Type.Array(Type.String(), { description: 'Names of the NS records that it has' }),
  ds: Type.Array(Type.String(), { description: 'DS records of the parent' }),
  code: Type.String({ description: 'A word for programs, such as `lame`; empty: it is well' }),
  error: Type.String({ description: 'A sentence; empty: it is well' }),
  at: UnixSeconds,
})

export const DelegatedDomain = Type.Object(
  {
    id: Type.String(),
    tenantId: Type.String(),
    domain: Type.String({ description: 'Lower case, without the trailing dot' }),
    verified: Type.Boolean({ description: 'The NS check passed' }),
    nsOk: Type.Boolean({ description: 'The parent has the NS records of this cluster' }),
    dsOk: Type.Boolean({ description: 'The parent has a DS record of a key of the zone' }),
    dsExpected: Type.Boolean({
      description: 'False while the zone is not signed: then the parent should have no DS record',
    }),
    lastVerifiedAt: nullable(UnixSeconds),
    verificationError: Type.String({ description: 'Of the last check; empty: all is well' }),
    checks: Type.Array(Check, { description: 'What each server said at the last check' }),
    createdAt: UnixSeconds,
  },
  { title: 'DelegatedDomain' },
)

export const NewDelegatedDomain = closed({
  domain: plain(DelegatedDomainSpec.properties.domain, { examples: ['gslb.example.com'] }),
})
export type NewDelegatedDomain = Static<typeof NewDelegatedDomain>

type Entry = ConfigEntry<'DelegatedDomain'>

export function claimOf({ uid, tenant, object }: Entry): OwnedDomain {
  return { uid, tenant, domain: domainKey(object.spec.domain) ?? object.spec.domain }
}

/** Text that is no name is left as it is: the compiler explains it. */
export function plainDomain(text: string): string {
  return domainKey(text)?.replace(/\.$/, '') ?? text
}

/** Whether an object may have this name. */
export const isPlainDomain = (text: string): boolean =>
  text.length <= 255 && domainKey(text) !== undefined

/** @param found a result for an earlier domain of this object is ignored */
export function showDomain(entry: Entry, found: DomainResult | undefined) {
  const { uid: id, domain: name } = claimOf(entry)
  const result = found?.domain === name ? found : undefined
  const { nsOk = false, dsOk = false, dsExpected = false, error = '', checks = [] } = result ?? {}
  const domain = name.replace(/\.$/, '')
  return {
    ...{ id, tenantId: entry.tenant, domain, verified: nsOk, nsOk, dsOk, dsExpected },
    lastVerifiedAt: result === undefined ? null : unixSeconds(result.verifiedAtMs),
    verificationError: error,
    checks: checks.map(({ role, server, address, ns, ds, code, error: why, atMs }) => {
      return { role, server, address, ns, ds, code, error: why, at: unixSeconds(atMs) }
    }),
    createdAt: entry.object.spec.createdAt ?? 0,
  }
}
