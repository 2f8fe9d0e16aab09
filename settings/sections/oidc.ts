// The section `auth.oidc` of gslbd.yaml: the identity provider, and the roles of its users.
import { builtInRoleNames } from '#access/permissions.ts'
import { boolean, choice, list, mapping, section, text } from '#settings/forms/forms.ts'
import type { Static } from '#lib/schema/type.ts'

const callback = '/api/v1/auth/oidc/callback'

export const oidc = section('Single sign-on. [More](../operations/access.md#single-sign-on).', {
  enabled: boolean({
    default: false,
    description: 'Whether people may log in through an identity provider (OpenID Connect).',
  }),
  discoveryUrl: text(2_000, {
    'x-default': 'none',
    'x-kind': 'url',
    pattern:
      '^(?!.*/\\.well-known/)' +
      '(https://[^\\s/?#@]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)?)' +
      '(/[^\\s?#]*)?$',
    'x-expected':
      'the https:// address of the issuer, as the provider writes it, without ' +
      '/.well-known/openid-configuration',
    description:
      'The issuer. It is asked for the rest at /.well-known/openid-configuration. http:// only ' +
      'on this machine.',
  }),
  clientId: text(1_024, {
    'x-default': 'none',
    description: 'Name of this service at the provider.',
  }),
  clientSecret: text(1_024, {
    'x-default': 'none',
    'x-secret': true,
    description: 'Its password there. It may stand in GSLB_OIDC_CLIENT_SECRET instead of the file.',
  }),
  redirectUri: text(2_000, {
    'x-default': 'none',
    'x-kind': 'url',
    pattern: `^https?://[^\\s/?#@]+(/[^\\s?#]*)?${callback}$`,
    'x-expected': `the address of this API as browsers see it, ending with ${callback}`,
    description: 'Where the provider sends people back to; it must be told the same address.',
  }),
  scopes: list(256, {
    default: ['openid', 'profile', 'email'],
    contains: { const: 'openid' },
    'x-expected': 'a list with openid in it, such as [openid, profile, email]',
    description: 'What the provider is asked to tell.',
  }),
  roleClaim: text(1_024, {
    default: '',
    description:
      'Claim of the userinfo answer that says who may do what; dots walk into objects, as in ' +
      '`realm_access.roles`. Empty: everybody gets `defaultRole`.',
  }),
  roleMapping: mapping([...builtInRoleNames], {
    'x-expected': 'values of the claim, each with tenant_admin, operator or viewer',
    description:
      'Roles by value of that claim. The first value of a list that is here decides. A ' +
      '`tenant_admin` of the tenant `default`, where new accounts are, is system administrator.',
  }),
  defaultRole: choice([...builtInRoleNames], {
    default: 'viewer',
    description: 'Role of everybody else.',
  }),
  allowedDomains: list(253, {
    default: [],
    'x-expected': 'a list of domains, such as [example.com]',
    description: 'Domains of e-mail addresses that are let in. Empty: all.',
  }),
  trustEmail: boolean({
    default: false,
    description:
      'Whether an address counts as verified when the provider sends no `email_verified`. Only ' +
      'for a provider where nobody can set an address that is not theirs.',
  }),
})
export type OidcSection = Static<typeof oidc>

const required = ['discoveryUrl', 'clientId', 'clientSecret', 'redirectUri'] as const

/** Returns sentences about what an enabled section lacks. */
export function missingForOidc(section: OidcSection): readonly string[] {
  if (!section.enabled) return []
  return required
    .filter((key) => (section[key] ?? '') === '')
    .map((key) => `auth.oidc.${key} is missing; write it, or set auth.oidc.enabled to false`)
}
