import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { settingRows } from '#settings/schema.ts'
import { Exit } from '#system/process/command.ts'
import { runCli, runCliWith } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

async function check(text: string, env: Record<string, string> = {}) {
  const file = join(tempDir('settings'), 'gslbd.yaml')
  writeFileSync(file, text)
  return { file, ...(await runCliWith(env, 'check-settings', file)) }
}

test('check-settings of a right file says that a node takes it', async () => {
  const { file, exit, out, err } = await check('dns: { port: 53 }\ndataDir: state\n')
  expect([exit, err]).toEqual([Exit.Ok, ''])
  expect(out).toContain(`${file}: a node takes these settings`)
  expect(out).toContain(file.replace('gslbd.yaml', 'state'))
})

test('check-settings lists all mistakes with their places', async () => {
  const { file, exit, out, err } = await check(
    'dns: { port: x, theads: 1 }\nlogging: { level: loud }\n',
  )
  expect([exit, out]).toEqual([Exit.ErrorsFound, ''])
  const places = err.split('\n').map((line) => line.replace(file, '').slice(0, 6))
  expect(places).toEqual([':1:14:', ':1:17:', ':2:19:', ''])
})

test.each([
  ['no file', [], 'name the settings file'],
  ['two files', ['a', 'b'], '"b" is one too many'],
])('check-settings of %s is a wrong call', async (_what, files, words) => {
  const { exit, err } = await runCli('check-settings', ...files)
  expect([exit, err]).toEqual([Exit.Usage, expect.stringContaining(words)])
})

const acme = 'acme: { names: [ns1.example.com], agreeToTerms: true }\n'
const api = (rest: string): string => `api: { enabled: true, ${rest} }\n`

test.each([
  ['a Redis of another form', 'redis: { url: "localhost:6379" }\n', {}, 'redis.url is not of'],
  [
    'an open API without a key',
    api('listenAddr: 0.0.0.0'),
    {},
    'cannot listen on 0.0.0.0 without GSLB_API_KEY',
  ],
  ['a dashboard that is not there', api('webuiPath: ./nowhere'), {}, 'there is no directory'],
  [
    'a secret key of another form',
    api('port: 8080'),
    { GSLB_SECRET_KEY: 'abc' },
    'GSLB_SECRET_KEY is not 64 hexadecimal digits',
  ],
  [
    'a certificate without the key it is stored under',
    acme,
    {},
    'acme.names needs GSLB_SECRET_KEY',
  ],
  [
    'a certificate under a key of another form',
    acme,
    { GSLB_SECRET_KEY: 'abc' },
    /^[^\n]*GSLB_SECRET_KEY is not 64 hexadecimal digits[^\n]*\n$/,
  ],
  [
    'one port for DNS and API',
    `dns: { port: 5353 }\n${api('listenAddr: 127.0.0.1, port: 5353')}`,
    {},
    'dns.port and api.port are both 5353',
  ],
  [
    'one port for API and redirects',
    `${api('listenAddr: 127.0.0.1, port: 8080')}\nredirect: { enabled: true, port: 8080 }`,
    {},
    'api.port and redirect.port are both 8080, on the same address; set redirect.port to another',
  ],
  [
    'redirects without a port',
    'redirect: { enabled: true }',
    {},
    'redirect.port is missing; write it, or take redirect.enabled away',
  ],
  [
    'a node that pulls without the keys of its bundles',
    'roles: [dns]\nbundle: { urls: ["https://control.example"], keys: ./no-keys }\n',
    {},
    /bundle\.keys: the key .*no-keys does not exist/,
  ],
  [
    'a token that no control node takes',
    'roles: [dns]\nbundle: { urls: ["https://control.example"], keys: ./no-keys }\n',
    { GSLB_BUNDLE_TOKEN: 'short' },
    'GSLB_BUNDLE_TOKEN is not 16 to 200 characters',
  ],
])('check-settings refuses %s', async (_what, text, env, words) => {
  const { file, exit, out, err } = await check(text, env)
  expect([exit, out]).toEqual([Exit.ErrorsFound, ''])
  expect(err).toContain(`${file}:`)
  expect(err).toMatch(words)
})

const files = settingRows.filter(({ key, leaf }) => {
  const isOther = /dir$|directory$|webuiPath$|socket$/i.test(key)
  return leaf['x-kind'] === 'path' && !isOther
})

test('check-settings refuses a directory for each setting that names a file', async () => {
  expect(files.map(({ key }) => key)).toContain('queryLog.file')
  const asked: Record<string, unknown> = {}
  for (const { path } of files) {
    let section = asked
    for (const name of path.slice(0, -1)) section = (section[name] ??= {}) as typeof asked
    section[path.at(-1)!] = '.'
  }
  // A key of a customer is nothing without its name.
  Object.assign((asked['acme'] as { eab: object }).eab, { kid: 'K1' })
  const { file, exit, err } = await check(JSON.stringify(asked))
  expect(exit).toBe(Exit.ErrorsFound)
  const lines = err.split('\n').filter((line) => line.includes('is a directory'))
  const refused = lines.map((line) => line.replace(/(gslbd\.yaml):1:\d+:/, '$1:'))
  expect(refused).toEqual(
    files.map(({ key }) => `${file}: ${key}: ${dirname(file)} is a directory; name a file in it`),
  )
})

test('a directory is right where the setting is of one', async () => {
  const { exit, err } = await check(
    'dataDir: .\nbackup: { directory: . }\nredirect: { nginx: { enabled: true, configDir: . } }\n',
  )
  expect([exit, err]).toEqual([Exit.Ok, ''])
})

test('serve says it when DNS and API have one port, and starts nothing', async () => {
  const text = `dns: { port: 5353 }\n${api('listenAddr: 127.0.0.1, port: 5353')}`
  const { file } = await check(text)
  const { exit, err } = await runCli('serve', '--settings', file)
  expect(exit).toBe(Exit.ErrorsFound)
  expect(err).toContain('dns.port and api.port are both 5353')
})

test.each([
  ['with the key', acme, { GSLB_SECRET_KEY: 'cd'.repeat(32) }],
  ['on a node that only answers', `roles: [dns]\nbundle: { urls: [], keys: . }\n${acme}`, {}],
])('check-settings takes the names of a certificate %s', async (_what, text, env) => {
  const { err } = await check(text, env)
  expect(err).not.toContain('GSLB_SECRET_KEY')
})

test('check-settings gives the place of what the environment or another key refuses', async () => {
  const { file, err } = await check(
    `dns: { listenAddr: 127.0.0.1, port: 5353 }\n${api('port: 5353')}${acme}`,
  )
  expect(err.split('\n')).toEqual([
    expect.stringContaining(`${file}:1:37: dns.port and api.port are both 5353`),
    expect.stringContaining(`${file}:3:16: acme.names needs GSLB_SECRET_KEY`),
    '',
  ])
})

test('two addresses may have one port', async () => {
  const text = `dns: { listenAddr: 192.0.2.1, port: 5353 }\n${api('port: 5353')}`
  expect((await check(text)).exit).toBe(Exit.Ok)
})

test.each([
  ['a database', 'geoip: { dbPath: ./no.mmdb }\n', /geoip\.dbPath: there is no file .*no\.mmdb/],
  [
    'a client certificate',
    'health: { enabled: true, clientCertificates: { probes: { cert: /nowhere/no.pem, key: /nowhere/no.key } } }\n',
    /health\.clientCertificates\.probes: .*no\.pem .*no\.key cannot be used \(ENOENT\)/,
  ],
  [
    'the key for a remote',
    'gitops: { url: "ssh://git@example.com/config.git", sshKey: ./no-key }\n',
    /there is no key in .*no-key \(gitops\.sshKey\)/,
  ],
  [
    'the API of a node that only gives bundles',
    'roles: [control]\n',
    /api\.enabled is false: no node can pull bundles from this one/,
  ],
  [
    'a DNS port for transfers and updates',
    `roles: [control]\n${api('port: 5353')}\ndns: { domain: example.com, axfr: { enabled: true } }\n`,
    /a node without the role dns transfers no zones[^]*takes no updates/,
  ],
])('check-settings warns where %s is not there', async (_what, text, words) => {
  const { exit, err } = await check(text)
  expect(exit).toBe(Exit.Ok)
  expect(err).toMatch(/: warning: /)
  expect(err).toMatch(words)
})
