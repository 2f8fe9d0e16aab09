// Every setting, variable and option that the interface documents name is there, with its default.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serve } from '#cli/commands/serve.ts'
import { readSecrets } from '#process/data/secrets.ts'
import { changedSettings, loadSettings, reloadedSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { ignoredSettings, settingRows } from '#settings/schema.ts'
import { layers } from '#test/layers.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** Key, documented default (undefined: none), and another value that is taken. */
const documented: readonly (readonly [key: string, byDefault: unknown, other: unknown])[] = [
  ['api.enabled', false, true],
  ['api.listenAddr', '127.0.0.1', '::1'],
  ['api.port', 8080, 443],
  ['api.webuiPath', undefined, '/srv/dashboard'],
  ['api.statusPage.names', [], ['www.example.com']],
  ['api.statusPage.title', 'Status', 'Example'],
  ['auth.sessionTTL', '24h', '15m'],
  ['auth.sessionExtend', true, false],
  ['auth.bcryptCost', 12, 10],
  ['auth.setupEndpoint', true, false],
  ['auth.oidc.enabled', false, false],
  ['auth.oidc.discoveryUrl', undefined, 'https://id.example.com'],
  ['auth.oidc.clientId', undefined, 'gslbd'],
  ['auth.oidc.clientSecret', undefined, 'hush'],
  ['auth.oidc.redirectUri', undefined, 'https://dns.example.com/api/v1/auth/oidc/callback'],
  ['auth.oidc.scopes', ['openid', 'profile', 'email'], ['openid', 'groups']],
  ['auth.oidc.roleClaim', '', 'realm_access.roles'],
  ['auth.oidc.roleMapping', {}, { admins: 'tenant_admin', ops: 'operator', all: 'viewer' }],
  ['auth.oidc.defaultRole', 'viewer', 'operator'],
  ['auth.oidc.allowedDomains', [], ['example.com']],
  ['backup.enabled', false, true],
  ['backup.interval', '1h', '24h'],
  ['backup.keep', 24, 0],
  ['backup.directory', '/var/lib/gslbd/backups', '/srv/backups'],
  ['journal.enabled', true, false],
  ['journal.maxAge', '30d', '7d'],
  ['journal.maxMegabytes', 1_024, 64],
  ['database.cacheTTL', '30s', '0'],
  ['dns.listenAddr', '0.0.0.0', '::'],
  ['dns.port', 5353, 53],
  ['dns.axfr.enabled', false, true],
  ['dns.axfr.requireTsig', false, true],
  ['gitops.branch', 'main', 'live'],
  ['gitops.poll', '30s', '5m'],
  ['gitops.requireSignature', true, false],
  ['gitops.checkPushes', true, false],
  ['geoip.dbPath', undefined, '/srv/city.mmdb'],
  ['asn.dbPath', undefined, '/srv/asn.mmdb'],
  ['latency.geoipDBPath', undefined, '/srv/country.mmdb'],
  ['health.enabled', false, true],
  ['health.allowScriptChecks', false, true],
  ['health.probers', 0, 3],
  ['health.webhookAllowedHosts', [], ['10.0.0.7', 'fd00::/8']],
  ['health.clientCertificates', {}, { probes: { cert: '/etc/a.pem', key: '/etc/b.pem' } }],
  ['license.defaultFreeRPS', 50, 100],
  ['license.defaultUnlicensedRPS', 5, 20],
  ['license.expiredFallbackRPS', 20, 0],
  ['license.refreshInterval', '1h', '10m'],
  // The interface has the vendor's server as default; this program has none.
  ['license.serverURL', '', 'https://licence.example.com'],
  ['logging.format', 'auto', 'text'],
  ['logging.level', 'info', 'debug'],
  ['redirect.enabled', false, false],
  ['redirect.listenAddr', '0.0.0.0', '::'],
  ['redirect.port', undefined, 8081],
  ['redirect.gatewayAPI.enabled', false, false],
  ['redirect.gatewayAPI.kubeconfig', '', '/etc/kubeconfig'],
  ['redirect.gatewayAPI.gatewayName', '', 'edge'],
  ['redirect.gatewayAPI.gatewayNamespace', '', 'gateways'],
  ['redirect.gatewayAPI.httprouteNamespace', '', 'routes'],
  ['redirect.caddy.enabled', false, true],
  ['redirect.caddy.adminUrl', 'http://localhost:2019', 'http://192.0.2.1:2019'],
  ['redirect.caddy.serverName', 'srv0', 'edge'],
  ['redirect.nginx.enabled', false, false],
  ['redirect.nginx.configDir', undefined, '/etc/nginx/conf.d'],
  ['redirect.nginx.configFile', 'svc-redirects.conf', 'redirects.conf'],
  ['redirect.nginx.reloadCommand', 'nginx -s reload', 'systemctl reload nginx'],
  ['redirect.cdn.enabled', false, false],
  ['redirect.cdn.zones', [], [{ zoneId: 'abc', domains: ['old.example'] }]],
  ['state.healthPolicy', 'local-or-global-fallback', 'global-quorum'],
  ['state.quorumMinPercent', 51, 100],
]

function load(text: string): Settings {
  const file = join(tempDir('settings'), 'gslbd.yaml')
  writeFileSync(file, text)
  const loaded = loadSettings({ file, env: {}, flags: {} })
  if (!loaded.ok) throw new Error(loaded.error.join('\n'))
  return loaded.value
}

/** The setting alone in a file. JSON is YAML. */
function fileWith(key: string, value: unknown): string {
  const nested = key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  return JSON.stringify(nested)
}

describe.each(documented)('%s', (key, byDefault, other) => {
  const row = settingRows.find((candidate) => candidate.key === key)

  test(`is ${JSON.stringify(byDefault) ?? 'not set'} by default`, () => {
    expect(row?.leaf.default).toEqual(byDefault)
    if (byDefault === undefined) return
    const { file, origins } = load('')
    const written = { ...load(fileWith(key, byDefault)), file, origins }
    expect(written).toEqual({ ...load(''), file, origins })
  })

  test(`can be ${JSON.stringify(other)}`, () => {
    const { applied, needRestart } = changedSettings(load(''), load(fileWith(key, other)))
    expect([...applied, ...needRestart]).toEqual(other === byDefault ? [] : [key])
  })
})

test('a setting that no layer names is in the table of ignored settings, no other is', () => {
  const readers = layers.filter(({ folder }) => !['settings', 'dashboard'].includes(folder))
  const files = globSync(readers.map(({ folder }) => `${folder}/**/*.ts`))
  const read = new Set(files.flatMap((file) => readFileSync(file, 'utf8').match(/\w+/g) ?? []))
  const unread = settingRows.filter(({ path, leaf }) => {
    const unit = leaf['x-kind'] === 'duration' ? 'Ms' : ''
    return !read.has(`${path.at(-1)}${unit}`)
  })
  expect(unread.map(({ key }) => key)).toEqual(Object.keys(ignoredSettings))
})

test('the short file of a node is accepted', () => {
  const settings = load(`
dns:    { listenAddr: 127.0.0.1, port: 5353, threads: 2 }
api:    { enabled: true, listenAddr: 127.0.0.1, port: 8080 }
gitops: { branch: main, poll: 30s, requireSignature: true, allowedSigners: ./signers, url: "" }
health: { enabled: true }
`)
  expect(settings.dns.threads).toBe(2)
  expect(settings.api.enabled).toBe(true)
  expect(settings.health.enabled).toBe(true)
})

test('the documented spelling of a duration of nothing is "0"', () => {
  expect(load('database: { cacheTTL: "0" }').database.cacheTTLMs).toBe(0)
})

test('SIGHUP takes over database.cacheTTL once, and no setting that needs a restart', () => {
  const before = load('')
  const after = load('{ database: { cacheTTL: 5m }, dns: { port: 53 } }')
  expect(changedSettings(before, after)).toEqual({
    applied: ['database.cacheTTL'],
    needRestart: ['dns.port'],
  })
  const reloaded = reloadedSettings(before, after)
  const origins = new Map([['database.cacheTTL', 'file']])
  expect(reloaded).toEqual({ ...before, database: after.database, origins })
  expect(changedSettings(reloaded, after).applied).toEqual([])
})

test('a zone for updates, or a key of secondary servers, must be a name', () => {
  for (const key of ['domain', 'axfr.notifyKey']) {
    const [first, second] = key.split('.')
    const value = second === undefined ? '"not a name"' : `{ ${second}: "not a name" }`
    expect(() => load(`dns:\n  ${first}: ${value}\n`)).toThrow(`dns.${key} is`)
  }
})

describe('outside the file', () => {
  const page = readFileSync('docs/reference/settings.md', 'utf8')
  const variables = [
    'GSLB_API_KEY',
    'GSLB_SECRET_KEY',
    'GSLB_BUNDLE_TOKEN',
    'GSLB_METRICS_TOKEN',
    'GSLB_WEBHOOK_SECRET',
    'GSLB_WEBHOOK_SECRET_FILE',
    'GSLB_AUDIT_LOG',
    'GSLB_LICENSE_PUBLIC_KEY',
    'GSLB_LICENSE_KEY',
    'GSLB_LICENSE_SERVER_URL',
  ]
  test.each(variables)('the reference names the variable %s', (name) => {
    expect(page).toContain(`| \`${name}\` |`)
  })

  test('the variables of the API are read, and none has a default', () => {
    const secret = 'cd'.repeat(32)
    const bundleToken = 't'.repeat(16)
    const env = {
      ...{ GSLB_API_KEY: 'k', GSLB_SECRET_KEY: secret, GSLB_AUDIT_LOG: '/var/log/audit' },
      GSLB_BUNDLE_TOKEN: bundleToken,
      GSLB_METRICS_TOKEN: bundleToken,
      GSLB_WEBHOOK_SECRET: bundleToken,
    }
    expect(readSecrets(env)).toEqual({
      ok: true,
      value: {
        apiKey: 'k',
        bundleToken,
        metricsToken: bundleToken,
        webhookSecret: bundleToken,
        secretKey: Buffer.from(secret, 'hex'),
        auditLog: '/var/log/audit',
      },
    })
    expect(readSecrets({})).toEqual({
      ok: true,
      value: {
        ...{ apiKey: null, bundleToken: null, metricsToken: null, webhookSecret: null },
        ...{ secretKey: null, auditLog: null },
      },
    })
  })

  test('the secret of webhooks may stand in a file', () => {
    const folder = tempDir('webhook-secret')
    const [good, short] = [join(folder, 'good'), join(folder, 'short')]
    writeFileSync(good, `${'w'.repeat(16)}\n`)
    writeFileSync(short, 'short\n')
    const named = (path: string) => readSecrets({ GSLB_WEBHOOK_SECRET_FILE: path })
    expect(named(good)).toMatchObject({ value: { webhookSecret: 'w'.repeat(16) } })
    const refusal = (path: string): string => {
      const read = named(path)
      return read.ok ? '' : read.error
    }
    expect(refusal(short)).toContain('16 to 200 characters')
    expect(refusal('good')).toContain('is not an absolute path')
    expect(refusal(join(folder, 'none'))).toContain('GSLB_WEBHOOK_SECRET_FILE names cannot be read')
  })

  test('values of the licence go before the file', () => {
    const env = {
      GSLB_LICENSE_PUBLIC_KEY: 'ab'.repeat(32),
      GSLB_LICENSE_SERVER_URL: 'https://licence.example.com',
    }
    const loaded = loadSettings({ env, flags: {} })
    expect(loaded).toMatchObject({
      ok: true,
      value: {
        license: { publicKey: env.GSLB_LICENSE_PUBLIC_KEY, serverURL: env.GSLB_LICENSE_SERVER_URL },
      },
    })
  })

  test('serve has --create-admin', () => {
    expect(serve.usage).toMatch(/^ {2}--create-admin /m)
  })
})
