// The section auth.oidc of gslbd.yaml.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import type { Result } from '#lib/result.ts'
import { oidcOf } from '#node/api/api.ts'
import { makeTempDir, removeTempDir } from '../../../support/temp-dir.ts'

const directory = makeTempDir('settings-oidc')
afterAll(() => removeTempDir(directory))

const complete = {
  enabled: true,
  discoveryUrl: 'https://idp.example.com/realms/main',
  clientId: 'gslbd',
  clientSecret: 'hunter2',
  redirectUri: 'https://gslb.example.com/api/v1/auth/oidc/callback',
}

function load(oidc: object, env: Record<string, string> = {}): Result<Settings, string[]> {
  const file = join(directory, 'gslbd.yaml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ auth: { oidc } }))
  return loadSettings({ file, env, flags: {} })
}
const faults = (oidc: object): string => {
  const loaded = load(oidc)
  return loaded.ok ? '' : loaded.error.join('\n')
}

describe('auth.oidc', () => {
  test('is taken as it is written, with its defaults', () => {
    const more = {
      roleClaim: 'realm_access.roles',
      roleMapping: { admins: 'tenant_admin', 7: 'operator' },
      allowedDomains: ['example.com'],
    }
    const loaded = load({ ...complete, ...more })
    expect(loaded.ok && loaded.value.auth.oidc).toEqual({
      ...complete,
      ...more,
      scopes: ['openid', 'profile', 'email'],
      defaultRole: 'viewer',
      trustEmail: false,
    })
  })

  test('is off when nothing is said', () => {
    const loaded = load({})
    expect(loaded.ok && loaded.value.auth.oidc).toEqual({
      enabled: false,
      scopes: ['openid', 'profile', 'email'],
      roleClaim: '',
      roleMapping: {},
      defaultRole: 'viewer',
      allowedDomains: [],
      trustEmail: false,
    })
  })

  test('may stand there while it is off', () => {
    for (const section of [{}, { enabled: false }, { clientId: 'x' }]) {
      const loaded = load(section)
      expect(loaded.ok && oidcOf(loaded.value.auth.oidc)).toBeNull()
    }
    const loaded = load(complete)
    expect(loaded.ok && oidcOf(loaded.value.auth.oidc)).not.toBeNull()
  })

  test('takes its secret from the environment', () => {
    const { clientSecret: _, ...rest } = complete
    const loaded = load(rest, { GSLB_OIDC_CLIENT_SECRET: 'from outside' })
    expect(loaded.ok && loaded.value.auth.oidc.clientSecret).toBe('from outside')
  })

  test.each(['discoveryUrl', 'clientId', 'clientSecret', 'redirectUri'])('needs %s', (key) => {
    expect(faults({ ...complete, [key]: undefined })).toContain(`auth.oidc.${key} is missing`)
    expect(faults({ ...complete, [key]: '' })).toContain(`auth.oidc.${key} is `)
  })

  const rows: readonly [string, object, string][] = [
    ['an issuer without TLS', { discoveryUrl: 'http://idp.example.com' }, 'the https:// address'],
    ['an issuer that is none', { discoveryUrl: 'idp.example.com' }, 'the https:// address'],
    ['an issuer with a password', { discoveryUrl: 'https://a:b@idp.test' }, 'the https:// address'],
    [
      'the address of the document',
      { discoveryUrl: 'https://idp.test/.well-known/openid-configuration' },
      'without /.well-known/openid-configuration',
    ],
    ['a machine that only looks like this one', { discoveryUrl: 'http://localhost.test' }, 'https'],
    [
      'a place to return to that is not ours',
      { redirectUri: 'https://gslb.example.com/callback' },
      'ending with /api/v1/auth/oidc/callback',
    ],
    [
      'a place to return to with a query',
      { redirectUri: 'https://x.test/?/api/v1/auth/oidc/callback' },
      'ending with /api/v1/auth/oidc/callback',
    ],
    ['scopes without openid', { scopes: ['email'] }, 'a list with openid in it'],
    ['a role that there is not', { roleMapping: { a: 'admin' } }, 'each with tenant_admin, oper'],
    ['a mapping that is a list', { roleMapping: ['admin'] }, 'each with tenant_admin, oper'],
    ['a mapping of objects', { roleMapping: { a: { b: 'viewer' } } }, 'each with tenant_admin'],
    ['a default that there is not', { defaultRole: 'root' }, 'tenant_admin, operator or viewer'],
    ['a domain that is no list', { allowedDomains: 'example.com' }, 'a list of domains'],
    ['a key that there is not', { roleMaping: {} }, 'did you mean "roleMapping"?'],
  ]
  test.each(rows)('refuses %s', (_what, more, sentence) => {
    expect(faults({ ...complete, ...more })).toContain(sentence)
  })

  test.each(['http://localhost:8090', 'http://127.0.0.1:8090/realms/x', 'http://[::1]:1'])(
    'takes %s: it is on this machine',
    (discoveryUrl) => expect(faults({ ...complete, discoveryUrl })).toBe(''),
  )

  test.each([12345678, ['hunter2'], 'hunter2'.repeat(200)])(
    'shows no secret back that is not of the right form (%#)',
    (clientSecret) => {
      const text = faults({ ...complete, clientSecret })
      expect(text).toContain('auth.oidc.clientSecret is not of the right form')
      expect(text).not.toMatch(/hunter2|12345678/)
    },
  )
})
