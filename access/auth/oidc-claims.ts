// Maps the claims of an identity provider to a user.
import { domainToASCII } from 'node:url'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createCheck } from '#http/validation.ts'
import type { BuiltInRole } from '#access/permissions.ts'
import { DisplayName, Email } from './user-json.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Settings of `auth.oidc` that decide who is admitted, and in which role. */
export interface OidcPolicy {
  /** Empty: everybody gets `defaultRole`. */
  readonly roleClaim: string
  readonly roleMapping: Readonly<Record<string, BuiltInRole>>
  readonly defaultRole: BuiltInRole
  /** Empty: all domains. */
  readonly allowedDomains: readonly string[]
  /** True: an address counts as verified when the provider does not say. */
  readonly trustEmail: boolean
}

export interface OidcPerson {
  readonly email: string
  /** Issuer, space and subject (OpenID Connect Core section 5.7), which never change. */
  readonly identity: string
  /** False: the provider does not say so, and is not trusted. */
  readonly isVerified: boolean
  /** Empty: no suitable name was sent. */
  readonly displayName: string
  readonly role: BuiltInRole
}

const faultsOfEmail = createCheck(Email, 'body')
const faultsOfName = createCheck(DisplayName, 'body')

/** Errors: a sentence for the person, who is not admitted. */
export function personOf(claims: Claims, policy: OidcPolicy): Result<OidcPerson, string> {
  const { iss, sub, email, email_verified: verified, name } = claims
  if (!isText(iss, issuerForm) || !isText(sub, subjectForm)) {
    return err('the identity provider gives no subject of at most 255 characters on one line')
  }
  if (typeof email !== 'string' || faultsOfEmail(email).length > 0) {
    return err('the identity provider gives no e-mail address; it needs the scope "email"')
  }
  // Some providers send the flag as text.
  if (verified === false || verified === 'false') {
    return err('the identity provider has not verified the e-mail address of this account')
  }
  const { allowedDomains, trustEmail } = policy
  const isVerified = verified === true || verified === 'true' || trustEmail
  if (allowedDomains.length > 0 && !isVerified) return err(notKnownVerified)
  if (allowedDomains.length > 0 && !allowedDomains.map(domainKey).includes(domainOf(email))) {
    return err('e-mail addresses of this domain are not allowed here')
  }
  return ok({
    email,
    identity: `${iss} ${sub}`,
    isVerified,
    displayName: typeof name === 'string' && faultsOfName(name).length === 0 ? name : '',
    role: roleOf(claims, policy),
  })
}

export const notKnownVerified =
  'the identity provider does not say that the e-mail address is verified; it must send ' +
  'email_verified, or the setting auth.oidc.trustEmail must trust it'

/** An address, and so without spaces. */
const issuerForm = /^\S{1,2000}$/
/** Length limit of OpenID Connect Core section 2. */
const subjectForm = /^[^\p{Cc}\p{Cs}]{1,255}$/u

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value)
}

function domainOf(email: string): string {
  return domainKey(email.slice(email.lastIndexOf('@') + 1))
}

/** The form for DNS lookups; a name without one is compared as it is. */
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

/** `realm_access.roles` walks objects; a claim whose own name has dots is tried first. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Claims)[name]
  }
  return value
}
