// From the claims of a provider to the person that they are about (document A, "Single sign-on").
import { domainToASCII } from 'node:url'
import { Value } from 'typebox/value'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { BuiltInRole } from '../permissions.ts'
import { DisplayName, Email } from '../user-json.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Settings under `auth.oidc` that decide who is let in, and as what. */
export interface OidcPolicy {
  /** Empty: everybody has `defaultRole`. */
  readonly roleClaim: string
  readonly roleMapping: Readonly<Record<string, BuiltInRole>>
  readonly defaultRole: BuiltInRole
  /** Empty: all are. */
  readonly allowedDomains: readonly string[]
}

export interface OidcPerson {
  readonly email: string
  /** The provider says that the address is theirs; false: it says nothing about it. */
  readonly isVerified: boolean
  /** Empty: there is none that fits. */
  readonly displayName: string
  readonly role: BuiltInRole
}

/** Errors: a sentence for the person, who is not let in. */
export function personOf(claims: Claims, policy: OidcPolicy): Result<OidcPerson, string> {
  const { email, email_verified: verified, name } = claims
  if (typeof email !== 'string' || !Value.Check(Email, email)) {
    return err('the identity provider gives no e-mail address; it needs the scope "email"')
  }
  // Some providers write it as a text.
  if (verified === false || verified === 'false') {
    return err('the identity provider has not verified the e-mail address of this account')
  }
  const { allowedDomains } = policy
  if (allowedDomains.length > 0 && !allowedDomains.map(domainKey).includes(domainOf(email))) {
    return err('e-mail addresses of this domain are not allowed here')
  }
  return ok({
    email,
    isVerified: verified === true || verified === 'true',
    displayName: typeof name === 'string' && Value.Check(DisplayName, name) ? name : '',
    role: roleOf(claims, policy),
  })
}

function domainOf(email: string): string {
  return domainKey(email.slice(email.lastIndexOf('@') + 1))
}

/** As the DNS would look it up; a name that it could not is a name of its own. */
function domainKey(domain: string): string {
  return domainToASCII(domain) || domain.toLowerCase()
}

/** The first entry of the claim that the mapping has decides. */
export function roleOf(claims: Claims, policy: OidcPolicy): BuiltInRole {
  const { roleClaim, roleMapping, defaultRole } = policy
  if (roleClaim === '') return defaultRole
  const values = [claimAt(claims, roleClaim)].flat()
  const found = values.find(
    (value): value is string => typeof value === 'string' && Object.hasOwn(roleMapping, value),
  )
  return (found === undefined ? undefined : roleMapping[found]) ?? defaultRole
}

/** `realm_access.roles` walks objects; a claim whose own name has dots is found by that first. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Claims)[name]
  }
  return value
}
