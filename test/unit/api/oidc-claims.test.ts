import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { personOf, roleOf } from '#access/auth/oidc-claims.ts'
import type { Claims, OidcPolicy } from '#access/auth/oidc-claims.ts'
import { builtInRoleNames } from '#access/permissions.ts'

const roleMapping: OidcPolicy['roleMapping'] = Object.fromEntries([
  ['admins', 'tenant_admin'],
  ['ops', 'operator'],
  ['constructor', 'operator'],
] as const)
const policy: OidcPolicy = {
  roleClaim: 'groups',
  roleMapping,
  defaultRole: 'viewer',
  allowedDomains: [],
  trustEmail: false,
}
const ann = { iss: 'https://idp.test', sub: 'ann', email: 'ann@example.com' }

describe('the role', () => {
  const rows: readonly [string, string, Claims, string][] = [
    ['of one value', 'groups', { groups: 'ops' }, 'operator'],
    ['of a list', 'groups', { groups: ['staff', 'ops'] }, 'operator'],
    ['of the first value that is mapped', 'groups', { groups: ['ops', 'admins'] }, 'operator'],
    ['of the first one, the other way', 'groups', { groups: ['admins', 'ops'] }, 'tenant_admin'],
    ['of a claim in an object', 'realm.roles', { realm: { roles: ['ops'] } }, 'operator'],
    ['three deep', 'a.b.c', { a: { b: { c: 'admins' } } }, 'tenant_admin'],
    [
      'of a claim with dots in its name',
      'https://x.org/r',
      { 'https://x.org/r': 'ops' },
      'operator',
    ],
    ['when nothing is mapped', 'groups', { groups: ['staff'] }, 'viewer'],
    ['when case differs', 'groups', { groups: 'Ops' }, 'viewer'],
    ['when the claim is missing', 'groups', {}, 'viewer'],
    ['when a part of the path is missing', 'realm.roles', { realm: {} }, 'viewer'],
    ['when a part of the path is a text', 'realm.roles', { realm: 'ops' }, 'viewer'],
    ['when a part of the path is null', 'realm.roles', { realm: null }, 'viewer'],
    ['when the claim is a number', 'groups', { groups: 7 }, 'viewer'],
    ['when the claim is an object', 'groups', { groups: { ops: true } }, 'viewer'],
    ['when the list has lists', 'groups', { groups: [['ops']] }, 'viewer'],
    ['when no claim is named', '', { groups: 'ops', '': 'ops' }, 'viewer'],
    ['when the value is on every object', 'groups', { groups: 'toString' }, 'viewer'],
    ['when the path is on every object', '__proto__.constructor', { groups: 'ops' }, 'viewer'],
    ['when the mapping has a word of JavaScript', 'groups', { groups: 'constructor' }, 'operator'],
  ]
  test.each(rows)('%s', (_what, roleClaim, claims, role) => {
    expect(roleOf(claims, { ...policy, roleClaim })).toBe(role)
  })

  test('is one of the three for any claims', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (claims, roleClaim) => {
        expect(builtInRoleNames).toContain(roleOf(claims, { ...policy, roleClaim }))
      }),
    )
  })
})

describe('the domain of an address', () => {
  const rows: readonly [string, readonly string[], boolean][] = [
    ['ann@example.com', ['example.com'], true],
    ['ann@example.com', ['example.org', 'example.com'], true],
    ['Ann@EXAMPLE.com', ['Example.COM'], true],
    ['ann@münchen.example', ['xn--mnchen-3ya.example'], true],
    ['ann@mail.example.com', ['example.com'], false],
    ['ann@badexample.com', ['example.com'], false],
    ['ann@example.com.evil.org', ['example.com'], false],
    ['ann@example.com', [], true],
  ]
  test.each(rows)('%s with %j: %s', (email, allowedDomains, isAllowed) => {
    const claims = { ...ann, email, email_verified: true }
    expect(personOf(claims, { ...policy, allowedDomains }).ok).toBe(isAllowed)
  })
})

describe('the person', () => {
  const rows: readonly [string, object, object | false][] = [
    ['is verified', { email_verified: true }, { isVerified: true }],
    ['is verified in a text', { email_verified: 'true' }, { isVerified: true }],
    ['is not known to be verified', {}, { isVerified: false }],
    ['is not verified for any other value', { email_verified: 1 }, { isVerified: false }],
    ['is refused as not verified', { email_verified: false }, false],
    ['is refused as not verified in a text', { email_verified: 'false' }, false],
    ['is an issuer and a subject', {}, { identity: 'https://idp.test ann' }],
    ['is refused without a subject', { sub: '' }, false],
    ['is refused with a subject that is too long', { sub: 'x'.repeat(256) }, false],
    ['is refused with a subject of two lines', { sub: 'a\nb' }, false],
    ['is refused with an issuer that has a space', { iss: 'https://idp.test x' }, false],
    ['has the name', { name: 'Ann Example' }, { displayName: 'Ann Example' }],
    ['has no name of several lines', { name: 'Ann\nAdmin' }, { displayName: '' }],
    ['has no name that is too long', { name: 'x'.repeat(201) }, { displayName: '' }],
    ['is refused without an address', { email: null }, false],
    ['is refused with an address that is too long', { email: `${'x'.repeat(251)}@y.z` }, false],
    ['is refused with two addresses', { email: ['ann@example.com'] }, false],
  ]
  test.each(rows)('%s', (_what, claims, expected) => {
    const person = personOf({ ...ann, ...claims }, policy)
    if (expected === false) expect(person.ok).toBe(false)
    else expect(person).toMatchObject({ ok: true, value: expected })
  })
})

describe('an address that the provider says nothing about', () => {
  const rows: readonly [string, Partial<OidcPolicy>, object, boolean | undefined][] = [
    ['is not known to be verified', {}, {}, false],
    ['is in no allowed domain', { allowedDomains: ['example.com'] }, {}, undefined],
    ['is verified where it is trusted', { trustEmail: true }, {}, true],
    [
      'is in its domain where it is trusted',
      { trustEmail: true, allowedDomains: ['example.com'] },
      {},
      true,
    ],
    [
      'is refused where it is trusted, but called unverified',
      { trustEmail: true },
      { email_verified: false },
      undefined,
    ],
  ]
  test.each(rows)('%s', (_what, settings, claims, isVerified) => {
    const person = personOf({ ...ann, ...claims }, { ...policy, ...settings })
    expect(person.ok ? person.value.isVerified : undefined).toBe(isVerified)
  })
})
