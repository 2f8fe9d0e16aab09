import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changedSettings, loadSettings, overrides } from '#settings/settings.ts'
import type { SettingSources, Settings } from '#settings/settings.ts'
import { readSettingsText } from '#settings/file.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gslbd-settings-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function load(
  text: string,
  outside: Partial<Pick<SettingSources, 'env' | 'flags'>> = {},
): Settings {
  const file = join(directory, 'gslbd.yaml')
  writeFileSync(file, text)
  const loaded = loadSettings({ file, env: {}, flags: {}, ...outside })
  if (!loaded.ok) throw new Error(loaded.error.join('\n'))
  return loaded.value
}

function problems(text: string): readonly string[] {
  const read = readSettingsText(text, 'gslbd.yaml')
  return read.ok ? [] : read.error
}

const cookies = { enabled: true, enforce: false, secretsFile: undefined }
const poolDefaults = { connections: 8, statementTimeoutMs: 10_000, startupParameters: true }
const https = { enabled: false, port: 443, path: '/dns-query' }
const noUpdates = { zones: [], types: ['TXT'], gssTsig: { keytab: undefined, grants: [] } }
const noTransfers = {
  ...{ enabled: false, requireTsig: false, allow: [], notify: [], notifyKey: '' },
  ...{ catalog: '', zonemd: false, history: expect.objectContaining({ changes: 1_000 }) as object },
}
const bundleKeys = resolve('./data/bundle_keys')
const noSources = { urls: [], channel: 'main', pollMs: 5_000, keys: bundleKeys }
const noPush = { zonePush: { targets: {} } }
const defaultStores = {
  acme: expect.objectContaining({ names: [], agreeToTerms: false }) as object,
  ...{ acmeDns: { domain: '', registerFrom: [], tenant: 'default', maxKeys: 1_000 }, ...noPush },
  database: { url: '', cacheTTLMs: 30_000, ...poolDefaults },
  redis: {
    ...{ url: '', master: '', sentinelPassword: '', cluster: false, ca: undefined, serverName: '' },
  },
}

const noAnycast = {
  ...{ driver: 'none', addresses: [], intervalMs: 1_000, rise: 3, fall: 3 },
  ...{ holdDownMs: 10_000, maxBundleAgeMs: 0, drainMs: 5_000 },
  bird: { socket: '/run/bird/bird.ctl', protocols: ['gslbd'] },
  exabgp: { pipe: '', routes: [], attributes: 'next-hop self' },
}

describe('defaults', () => {
  test('hold without any file', () => {
    const loaded = loadSettings({ env: {}, flags: {} })
    expect(loaded).toEqual({
      ok: true,
      value: {
        ...{ origins: new Map(), dataDir: resolve('./data'), roles: ['control', 'dns'] },
        ...{ bundle: noSources, node: expect.objectContaining({ unlisted: 'auto' }) as object },
        dns: {
          listenAddr: '0.0.0.0',
          ...{ port: 5353, threads: availableParallelism() },
          udpPayloadSize: 1232,
          ...{ nsid: '', versionBind: '', zoneVersion: true, tellsCommit: false },
          ...{ resolvers: [], allowLocalTargets: false, proxyProtocol: [], cookies },
          tcp: { idleTimeoutMs: 10_000, maxConnections: 1000, maxPerClient: 50, maxPipelined: 64 },
          ...{ domain: '', tsig: { keysFile: undefined }, update: noUpdates },
          ...{ axfr: noTransfers, tls: expect.objectContaining({ port: 853 }) as object, https },
          rrl: expect.objectContaining({ enabled: false }) as object,
        },
        api: {
          ...{ enabled: false, listenAddr: '127.0.0.1', port: 8080 },
          ...{ trustedProxies: [], allowDevMode: false, tls: { acme: false, certificates: {} } },
          ...{ maxWebSocketClients: 1000, statusPage: { names: [], title: 'Status' } },
        },
        auth: {
          ...{ sessionTTLMs: 86_400_000, sessionExtend: true },
          ...{ bcryptCost: 12, setupEndpoint: true },
          oidc: expect.objectContaining({ enabled: false }) as object,
        },
        ...defaultStores,
        backup: {
          ...{ enabled: false, intervalMs: 3_600_000, keep: 24 },
          directory: '/var/lib/gslbd/backups',
        },
        journal: { enabled: true, maxAgeMs: 30 * 86_400_000, maxMegabytes: 1_024 },
        gitops: {
          ...{ url: '', branch: 'main', pollMs: 30_000 },
          packAfterObjects: 2_000,
          ...{ requireSignature: true, checkPushes: true },
          allowedSigners: resolve('./data/allowed_signers'),
          ...{ sshKey: resolve('./data/ssh_key'), knownHosts: resolve('./data/known_hosts') },
        },
        domains: { verifyIntervalMs: 600_000, allowPrivate: false },
        discovery: { sources: {}, share: false, maxRemoved: 50, removeAfterMs: 10_000 },
        anycast: noAnycast,
        alerts: {
          ...{ allowedHosts: [], diskFreeMinPercent: 5, groupWaitMs: 10_000 },
          ...{ expiryWarningMs: 14 * 86_400_000, geoMaxAgeMs: 45 * 86_400_000 },
        },
        externalDns: { enabled: false, listenAddr: '127.0.0.1', port: 8_888, tenant: undefined },
        license: expect.objectContaining({ publicKey: '', defaultUnlicensedRPS: 5 }) as object,
        queryLog: expect.objectContaining({ sampleEvery: 100, keptFiles: 5 }) as object,
        telemetry: { otlp: { url: '', headers: '', timeoutMs: 10_000 } },
        redirect: expect.objectContaining({ enabled: false, maxConnections: 10_000 }) as object,
        health: {
          ...{ enabled: false, allowScriptChecks: false, probers: 0 },
          ...{ webhookAllowedHosts: [], clientCertificates: {} },
        },
        state: {
          healthPolicy: 'local-or-global-fallback',
          quorumMinPercent: 51,
          nodeName: hostname(),
        },
        geoip: { dbPath: undefined, countClients: true },
        ...{ asn: { dbPath: undefined }, latency: { geoipDBPath: undefined } },
        logging: { format: 'auto', level: 'info', pseudonymous: false },
      },
    })
  })

  const empty = ['', '# nothing\n', '---\n', 'dns:\n', 'dns:\n  tcp:\n', '{}']
  test.each(empty)('stand when the file says nothing: %j', (text) => {
    expect(load(text).dns.port).toBe(5353)
  })
})

test('a list of networks is taken as it is written', () => {
  const text = 'health: { webhookAllowedHosts: [10.0.0.1, "fd00::/8"] }'
  expect(load(text).health.webhookAllowedHosts).toEqual(['10.0.0.1', 'fd00::/8'])
  expect(changedSettings(load(text), load(text)).needRestart).toEqual([])
  expect(changedSettings(load(text), load('')).needRestart).toEqual(['health.webhookAllowedHosts'])
})

describe('a path', () => {
  test('in the file is relative to the file', () => {
    const settings = load('dataDir: var\ngitops: { allowedSigners: keys/signers }\n')
    expect(settings.dataDir).toBe(join(directory, 'var'))
    expect(settings.gitops.allowedSigners).toBe(join(directory, 'keys/signers'))
  })

  test('outside the file is relative to the working directory', () => {
    expect(load('', { flags: { 'data-dir': 'elsewhere' } }).dataDir).toBe(resolve('elsewhere'))
  })

  test('to the signers follows the data directory when it is not set', () => {
    expect(load('', { env: { GSLB_DATA_DIR: '/srv/g' } }).gitops.allowedSigners).toBe(
      '/srv/g/allowed_signers',
    )
  })
})

describe('precedence', () => {
  const file = 'logging: { level: warn }'
  const rows: readonly [string, string, SettingSources['env'], SettingSources['flags'], string][] =
    [
      ['the default when nothing is said', '', {}, {}, 'info'],
      ['the file before the default', file, {}, {}, 'warn'],
      ['the environment before the file', file, { GSLB_LOG_LEVEL: 'error' }, {}, 'error'],
      [
        'a flag before the environment',
        file,
        { GSLB_LOG_LEVEL: 'error' },
        { 'log-level': 'debug' },
        'debug',
      ],
      ['the file when the variable is empty', file, { GSLB_LOG_LEVEL: '' }, {}, 'warn'],
    ]
  test.each(rows)('takes %s', (_title, text, env, flags, level) => {
    expect(load(text, { env, flags }).logging.level).toBe(level)
  })

  test('covers every row of the table of overrides', () => {
    for (const { key, env } of overrides) {
      const value = {
        'logging.format': 'text',
        'logging.level': 'debug',
        'database.url': 'postgresql://h/d',
        'gitops.url': 'https://u:p@h/r',
        'license.serverURL': 'https://licences.example.net/gslbd',
        'telemetry.otlp.headers': 'api-key=other',
      }[key as string]
      const settings = load('', { env: { [env]: value ?? 'other' } })
      const found = key
        .split('.')
        .reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], settings)
      expect(found, key).toBe(key === 'dataDir' ? resolve('other') : (value ?? 'other'))
    }
  })
})

describe('a mistake is named with its place and its remedy', () => {
  const rows: readonly [string, string, string][] = [
    [
      'an unknown key',
      'dns:\n  prot: 53\n',
      '2:3: there is no setting dns.prot; did you mean "port"?',
    ],
    ['an unknown section', 'dsn: {}\n', '1:1: there is no setting dsn; did you mean "dns"?'],
    [
      'an unknown key that resembles nothing',
      'health: { xyzzy: 1 }\n',
      '1:11: there is no setting health.xyzzy; remove it, or use one of: enabled, ' +
        'allowScriptChecks, probers, webhookAllowedHosts, clientCertificates',
    ],
    [
      'a number out of range',
      'dns:\n  port: 70000\n',
      '2:9: dns.port is the number 70000, write a whole number from 0 to 65535',
    ],
    [
      'a fraction',
      'dns: { port: 5.5 }',
      '1:14: dns.port is the number 5.5, write a whole number from 0 to 65535',
    ],
    [
      'text for a number',
      'dns: { port: "53" }',
      '1:14: dns.port is "53", write a whole number from 0 to 65535',
    ],
    ['yes for true', 'api: { enabled: yes }', '1:17: api.enabled is "yes", write true or false'],
    [
      'an address that is a name',
      'dns: { listenAddr: localhost }',
      '1:20: dns.listenAddr is "localhost", write an IPv4 or IPv6 address',
    ],
    [
      'a word near a choice',
      'logging: { level: erorr }',
      '1:19: logging.level is "erorr", write debug, info, warn or error; did you mean "error"?',
    ],
    [
      'a duration without a unit',
      'gitops: { poll: 30 }',
      '1:17: gitops.poll is the number 30, write a duration from 1s to 1d, such as 30s or 5m',
    ],
    [
      'a duration below its bound',
      'gitops: { poll: 10ms }',
      '1:17: gitops.poll is "10ms", write a duration from 1s to 1d, such as 30s or 5m',
    ],
    [
      'a value that is missing',
      'dns:\n  port:\n',
      '2:3: dns.port is empty, write a whole number from 0 to 65535',
    ],
    [
      'a list for a value',
      'dns: { port: [53] }',
      '1:14: dns.port is a list, write a whole number from 0 to 65535',
    ],
    [
      'a value for a section',
      'dns: 53',
      '1:6: dns is a section; write its keys below it, indented: listenAddr, port, ' +
        'threads, udpPayloadSize, nsid, versionBind, zoneVersion, tellsCommit, resolvers, ' +
        'allowLocalTargets, domain, update, tsig, proxyProtocol, cookies, tcp, tls, https, axfr, rrl',
    ],
    [
      'a list for the file',
      '- dns',
      '1:1: the file is not a mapping; write sections such as "dns:"',
    ],
    [
      'a remote that is neither HTTP nor SSH',
      'gitops: { url: "git://host/r" }',
      '1:16: gitops.url is "git://host/r", write an https://, http:// or ssh:// address, or ' +
        'git@host:path',
    ],
    [
      'a password in the file',
      'gitops: { url: "https://u:hunter2@host/r" }',
      '1:16: gitops.url holds a name or password; ' +
        'remove this key and set GSLB_GITOPS_URL instead',
    ],
    [
      'a branch that Git would refuse',
      'gitops: { branch: a..b }',
      '1:19: gitops.branch is "a..b", write the name of a branch, such as main',
    ],
    [
      'a name among networks',
      'health: { webhookAllowedHosts: [10.0.0.1, intranet.example] }',
      '1:43: health.webhookAllowedHosts holds "intranet.example", write a list of addresses and ' +
        'networks, such as [192.0.2.7, 10.1.0.0/16]',
    ],
    [
      'a network with host bits',
      'health: { webhookAllowedHosts: [10.0.0.1/8] }',
      '1:33: health.webhookAllowedHosts: 10.0.0.1/8 has bits set beyond its prefix of 8 bits; ' +
        'write 10.0.0.0/8',
    ],
    [
      'a network of secondaries with host bits',
      'dns: { axfr: { allow: [192.0.2.7, "2001:db8::1/32"] } }',
      '1:35: dns.axfr.allow: 2001:db8::1/32 has bits set beyond its prefix of 32 bits; ' +
        'write 2001:db8::/32',
    ],
    ...['ns.example.net', '192.0.2.53:0', '[192.0.2.53]:53', '2001:db8::53:5353:1:2:3:4'].map(
      (server): [string, string, string] => [
        `the name server ${server}`,
        `dns: { resolvers: ["192.0.2.53:5353", "[2001:db8::53]:53", "${server}"] }`,
        `1:60: dns.resolvers holds "${server}", write a list of addresses of name servers, such ` +
          'as [192.0.2.53, "127.0.0.1:5353"]',
      ],
    ),
    ...['', 'example..com', '*.example.com', 'a b.example', `${'a'.repeat(64)}.example`].map(
      (zone): [string, string, string] => [
        `"${zone}" among zones`,
        `dns:\n  update: { zones: [example.com, Example.net., "${zone}"] }`,
        `2:48: dns.update.zones holds "${zone.length > 60 ? `${zone.slice(0, 60)}…` : zone}", ` +
          'write a list of names of zones, such as [example.com, example.net]',
      ],
    ),
    [
      'one zone that is not in a list',
      'dns: { update: { zones: example.com } }',
      '1:25: dns.update.zones is "example.com", write a list of names of zones, such as ' +
        '[example.com, example.net]',
    ],
    [
      'a domain that is no name',
      'dns:\n  domain: "*.example.com"',
      '2:11: dns.domain is "*.example.com", write the name of a zone, such as example.com',
    ],
    [
      'a key that has no name',
      'dns: { axfr: { notifyKey: a..b } }',
      '1:27: dns.axfr.notifyKey is "a..b", write the name of a TSIG key, such as ' +
        'transfer.example.com.',
    ],
    [
      'one network that is not in a list',
      'health: { webhookAllowedHosts: 10.0.0.0/8 }',
      '1:32: health.webhookAllowedHosts is "10.0.0.0/8", write a list of addresses and ' +
        'networks, such as [192.0.2.7, 10.1.0.0/16]',
    ],
    [
      'an alias',
      'api: { port: &p 80 }\ndns: { port: *p }',
      '1:17: anchors and aliases (& and *) are not accepted; write the value out; text that ' +
        'starts with * or & needs quotes',
    ],
    [
      'a second document',
      'dns: {}\n---\napi: {}\n',
      '2:1: a second document starts here; keep one document in the file, without "---" between; ' +
        'another object goes into its own',
    ],
    [
      'a key twice',
      'dns: {}\ndns: {}\n',
      '2:1: the key "dns" is written twice; remove one of the two',
    ],
    [
      'a tab',
      'dns:\n\tport: 53\n',
      '2:1: the line starts with a tab; replace each tab in front of a line with spaces: YAML ' +
        'has no tabs there',
    ],
    [
      'a merge conflict',
      'dns:\n<<<<<<< HEAD\n  port: 53\n=======\n  port: 5353\n>>>>>>> other\n',
      '2:1: Git left a merge conflict here; it ends in line 6; keep one of the two versions, and ' +
        'remove the three lines that start with <<<<<<<, ======= and >>>>>>>',
    ],
    [
      'a quote that stays open before a password',
      'gitops:\n  url: "https://u:hunter2@host/r\n',
      '2:8: the quote that opens here is never closed; close it: "https://…@host/r"',
    ],
  ]
  test.each(rows)('%s', (_title, text, expected) => {
    expect(problems(text)[0]).toBe(`gslbd.yaml:${expected}`)
  })

  test('and what is wrong beside a mistake of YAML, too', () => {
    const text = 'dns:\n  port = 53\n  theads: 1\nlogging: { level: "loud }\nlater: {}\n'
    expect(problems(text).map((line) => line.split(':')[1])).toEqual(['2', '3', '4', '5'])
  })

  test('and all of a file at once, in its order', () => {
    const text = 'dns: { port: x, theads: 1 }\nlogging: { level: loud }\nlater: {}\n'
    expect(problems(text).map((line) => line.split(':')[1])).toEqual(['1', '1', '2', '3'])
  })

  test('with those of the environment and the flags', () => {
    const file = join(directory, 'bad.yaml')
    writeFileSync(file, 'dns: { port: x }\n')
    const loaded = loadSettings({
      file,
      env: { GSLB_LOG_FORMAT: 'xml' },
      flags: { 'log-level': 'loud' },
    })
    expect(loaded.ok ? [] : loaded.error).toEqual([
      `${file}:1:14: dns.port is "x", write a whole number from 0 to 65535`,
      'environment variable GSLB_LOG_FORMAT: logging.format is "xml", write auto, text or json',
      '--log-level: logging.level is "loud", write debug, info, warn or error',
    ])
  })

  test.each([
    ['GSLB_GITOPS_URL', 'ssh://u:hunter2@host/r', 'gitops.url is'],
    // Whether anything needs a database or not.
    ['GSLB_DATABASE_URL', 'mysql://u:hunter2@host/d', 'with postgresql:// and a host'],
    ['GSLB_DATABASE_URL', 'postgresql:///hunter2', 'with postgresql:// and a host'],
  ])('without showing a password back: %s of %s', (name, value, says) => {
    const loaded = loadSettings({ env: { [name]: value }, flags: {} })
    expect(loaded.ok ? '' : loaded.error.join()).toContain(says)
    expect(JSON.stringify(loaded)).not.toContain('hunter2')
  })
})

describe('a file that cannot be read', () => {
  test('is an error when it was named', () => {
    const file = join(directory, 'missing.yaml')
    const loaded = loadSettings({ file, env: {}, flags: {} })
    expect(loaded).toEqual({
      ok: false,
      error: [`${file}: there is no such file; create it, or name another with --settings`],
    })
  })

  test('says so when it is a directory', () => {
    const file = join(directory, 'folder')
    mkdirSync(file)
    const loaded = loadSettings({ file, env: {}, flags: {} })
    expect(loaded.ok ? [] : loaded.error).toEqual([
      `${file}: this is a directory; name the settings file in it with --settings`,
    ])
  })

  test('is refused when it is larger than any settings file', () => {
    expect(problems('#'.repeat(1_100_000))).toEqual([
      'gslbd.yaml: the file is larger than 1 MiB; settings of a node are a page of text',
    ])
  })
})

test('any text ends in values or in sentences with a place, never in a throw', () => {
  const words = fc.constantFrom(
    'dns',
    'port',
    'api',
    ':',
    ' ',
    '\n',
    '  ',
    '{',
    '}',
    '[',
    '"',
    '&a',
    '*a',
    '!!x',
    '0x1',
    '~',
    '- ',
    '?',
    '|',
    '---',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 40 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (input) => {
      for (const line of problems(input)) expect(line).toMatch(/^gslbd\.yaml:\d+:\d+: ./)
    }),
    { numRuns: 500 },
  )
})

describe('a reload', () => {
  test('tells what applies at once from what waits for a restart', () => {
    const before = load('')
    const after = load(
      'dns: { port: 53, tcp: { idleTimeout: 5s } }\nlogging: { level: debug }\ngitops: { poll: 1m }',
    )
    expect(changedSettings(before, after)).toEqual({
      applied: ['gitops.poll', 'logging.level'],
      needRestart: ['dns.port', 'dns.tcp.idleTimeout'],
    })
  })

  test('finds nothing in an unchanged file', () => {
    expect(changedSettings(load('dns: { port: 53 }'), load('dns: { port: 53 }'))).toEqual({
      applied: [],
      needRestart: [],
    })
  })
})
