import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askJson } from '#integrations/http/json-client.ts'
import { kubernetesAccess } from '#integrations/http/kubeconfig.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const { signal } = new AbortController()
const tls = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../../fixtures/tls', `${name}.pem`), 'utf8')
const base64 = (text: string): string => Buffer.from(text).toString('base64')

interface Written {
  readonly cluster?: object
  readonly user?: object
}

const configOf = ({ cluster = {}, user = {} }: Written): string =>
  JSON.stringify({
    ...{ 'current-context': 'x' },
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1/', ...cluster } }],
    users: [{ name: 'u', user }],
  })

function written(folder: string, text: string): string {
  const path = join(folder, 'config')
  writeFileSync(path, text)
  return path
}

/** @returns the credentials, or why there are none */
async function credentialsOf(config: Written, folder = tempDir('kubeconfig')) {
  const access = kubernetesAccess(written(folder, configOf(config)), process.env)
  if (!access.ok) return access.error
  return await access.value.credentials(signal).catch((error: unknown) => (error as Error).message)
}

describe('a user of a kubeconfig', () => {
  test.each<[what: string, user: object, headers: object]>([
    ['nobody', {}, {}],
    ['a token', { token: 'hush' }, { authorization: 'Bearer hush' }],
    ['a token in a file', { tokenFile: 'token' }, { authorization: 'Bearer filed' }],
    ['a password', { username: 'a', password: 'b' }, { authorization: 'Basic YTpi' }],
    [
      'a program',
      { exec: { command: './make', args: ['x y'], env: [{ name: 'GIVEN', value: 'e' }] } },
      { authorization: 'Bearer x y-e-ExecCredential' },
    ],
  ])('has %s', async (_what, user, headers) => {
    const folder = tempDir('kubeconfig')
    writeFileSync(join(folder, 'token'), 'filed\n')
    const kind = `$(printf %s "$KUBERNETES_EXEC_INFO" | sed 's/.*kind":"\\([A-Za-z]*\\).*/\\1/')`
    const credential = `{"status":{"token":"%s-%s-%s"}}`
    const script = `#!/bin/sh\nprintf '${credential}' "$1" "$GIVEN" "${kind}"\n`
    writeFileSync(join(folder, 'make'), script, { mode: 0o755 })
    expect(await credentialsOf({ user }, folder)).toEqual({ headers, tls: {} })
  })

  test('a program is run once in a round', async () => {
    const folder = tempDir('kubeconfig')
    const script = '#!/bin/sh\necho x >>"$(dirname "$0")/runs"\necho \'{"status":{"token":"t"}}\'\n'
    writeFileSync(join(folder, 'make'), script, { mode: 0o755 })
    const path = written(folder, configOf({ user: { exec: { command: './make' } } }))
    const access = kubernetesAccess(path, process.env)
    for (let i = 0; i < 3; i++) if (access.ok) await access.value.credentials(signal)
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('x\n')
  })

  test.each([
    ['./none', /^\.\/none of the kubeconfig has failed: ENOENT$/],
    ['false', /^false of the kubeconfig has failed: 1$/],
    ['true', /^true of the kubeconfig has failed: it says no JSON$/],
  ])('a program %s that fails is told, without its words', async (command, says) => {
    expect(await credentialsOf({ user: { exec: { command } } })).toMatch(says)
  })

  test.each<[status: unknown, says: string]>([
    [undefined, 'it gives no token, and no certificate'],
    [{ token: null, clientCertificateData: '' }, 'it gives no token, and no certificate'],
    ['hush', 'status has no fields'],
    [{ token: 12_345 }, 'token is no text'],
    [{ token: 'hush', clientCertificateData: ['hush'] }, 'clientCertificateData is no text'],
    [{ token: 'hush', clientKeyData: true }, 'clientKeyData is no text'],
    [{ clientKeyData: 'hush' }, 'it gives a certificate or a key alone'],
    [{ token: 'hush', clientCertificateData: 'c' }, 'it gives a certificate or a key alone'],
  ])('a program that says the status %j is refused', async (status, says) => {
    const exec = { command: 'echo', args: [JSON.stringify({ status })] }
    const told = await credentialsOf({ user: { exec } })
    expect(told).toBe(`echo of the kubeconfig has failed: ${says}`)
  })

  test('a program can give a certificate with its key, and no token', async () => {
    const status = { token: null, clientCertificateData: 'c', clientKeyData: 'k' }
    const exec = { command: 'echo', args: [JSON.stringify({ status })] }
    const given = await credentialsOf({ user: { exec } })
    expect(given).toEqual({ headers: {}, tls: { cert: 'c', key: 'k' } })
  })

  test('a program that ignores SIGTERM is ended in time', async () => {
    const folder = tempDir('kubeconfig')
    const script = "trap '' TERM; for i in 1 2 3 4; do sleep 0.5; done"
    const exec = { command: 'sh', args: ['-c', script] }
    const path = written(folder, configOf({ user: { exec } }))
    const access = kubernetesAccess(path, process.env, '', 200)
    if (!access.ok) throw new Error(access.error)
    await expect(access.value.credentials(signal)).rejects.toThrow(
      /^sh of the kubeconfig has failed: it did not end within 0\.2 s$/,
    )
  })

  test('a program that says too much, or that another ends, is not told as late', async () => {
    const ran = (script: string) =>
      credentialsOf({ user: { exec: { command: 'sh', args: ['-c', script] } } })
    expect(await ran('head -c 2000000 /dev/zero')).toContain('failed: ERR_CHILD_PROCESS_STDIO')
    expect(await ran('kill -TERM $$')).toMatch(/failed: SIGTERM$/)
  })

  test.each([
    ['client-key', 'ENAMETOOLONG'],
    ['tokenFile', 'ENOENT'],
  ])('a secret in place of the file %s is not told', async (key, code) => {
    const secret = key === 'tokenFile' ? 'hush' : 'hush'.repeat(100)
    const told = await credentialsOf({ user: { [key]: secret } })
    expect(told).toBe(`the file of ${key} cannot be read: ${code}`)
  })
})

test('a server with a name and a certificate of its own, which asks for one', async () => {
  const [cert, key] = [tls('named.cert'), tls('named.key')]
  const options = { cert, key, requestCert: true, ca: tls('addressed.cert') }
  const server = createServer(options, ({ socket }, response) => {
    const { subjectaltname } = (socket as TLSSocket).getPeerCertificate()
    response.end(JSON.stringify({ subjectaltname }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ask = async (cluster: object) => {
    const folder = tempDir('kubeconfig')
    writeFileSync(join(folder, 'client.pem'), tls('addressed.cert'))
    const user = {
      'client-certificate': 'client.pem',
      'client-key-data': base64(tls('addressed.key')),
    }
    const of = { cluster: { server: `https://127.0.0.1:${port}`, ...cluster }, user }
    const access = kubernetesAccess(written(folder, configOf(of)), {})
    if (!access.ok) return access.error
    const given = await access.value.credentials(signal)
    const answer = await askJson({
      url: `${access.value.server}/x`,
      method: 'GET',
      signal,
      ...given,
    })
    return answer.ok ? JSON.stringify(answer.value.json) : answer.error
  }
  const ours = { 'certificate-authority-data': base64(cert) }
  expect(await ask({ ...ours, 'tls-server-name': 'www.example.com' })).toContain('127.0.0.1')
  expect(await ask({ 'insecure-skip-tls-verify': true })).toContain('127.0.0.1')
  expect(await ask(ours)).toContain('cannot be asked: ERR_TLS_CERT_ALTNAME_INVALID')
  expect(await ask({})).toMatch(/cannot be asked: \w*(SELF_SIGNED|UNABLE_TO_VERIFY)/)
})

test('the account of a pod has its token read before each request', async () => {
  const folder = join(tempDir('pod'), 'account')
  mkdirSync(folder)
  writeFileSync(join(folder, 'ca.crt'), tls('named.cert'))
  writeFileSync(join(folder, 'token'), 'one\n')
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  const access = kubernetesAccess('', env, folder)
  if (!access.ok) throw new Error(access.error)
  expect(access.value.server).toBe('https://[fd00::1]:6443')
  const first = await access.value.credentials(signal)
  expect(first).toEqual({
    headers: { authorization: 'Bearer one' },
    tls: { ca: tls('named.cert') },
  })
  writeFileSync(join(folder, 'token'), 'two\n')
  const { headers } = await access.value.credentials(signal)
  expect(headers).toEqual({ authorization: 'Bearer two' })
  const elsewhere = kubernetesAccess('', {}, folder)
  expect(elsewhere.ok ? '' : elsewhere.error).toMatch(/^the account of the pod .* this is no pod$/)
})

test.each<[text: string, says: RegExp]>([
  ['', /it has no context ""$/],
  ['<html>', /it has no context ""$/],
  [configOf({}).replace('"u"', '"other"'), /it has no user "other"$/],
  [configOf({}).replace('"c"', '"other"'), /it has no cluster "other"$/],
  [configOf({ cluster: { server: 'x' } }), /it has no server$/],
  [configOf({ cluster: { server: 'ftp://x' } }), /it has no server$/],
  [configOf({ cluster: { 'proxy-url': 'http://x' } }), /proxy-url is not known here$/],
  [configOf({ cluster: { 'certificate-authority': '/none' } }), /ENOENT/],
  [configOf({ user: { 'auth-provider': {} } }), /auth-provider is not known here$/],
  [configOf({ cluster: { 'tls-server-name': 7 } }), /: tls-server-name is no text$/],
  [
    configOf({ cluster: { 'insecure-skip-tls-verify': 'true' } }),
    /: insecure-skip-tls-verify is neither true nor false$/,
  ],
  [
    configOf({ cluster: { 'certificate-authority-data': 7 } }),
    /: certificate-authority-data is no text$/,
  ],
  [configOf({ user: { exec: 'hush' } }), /: exec has no fields$/],
  [configOf({ user: { exec: { args: 'hush' } } }), /: args is no list$/],
  [configOf({ user: { exec: { args: [7] } } }), /: one of args is no text$/],
  [configOf({ user: { exec: { env: [{ name: 'x', value: 7 }] } } }), /: value is no text$/],
  ['contexts: 7', /: contexts is no list$/],
  ['current-context: 7', /: current-context is no text$/],
  ['users:\n- user: { token: hush\n- x: [\n', /: \w[\w ]+ used: [A-Z_]+ in line 3, column \d+$/],
  ['password: *hush', /: it is no YAML that can be used$/],
  ['password: !hush x', /: TAG_RESOLVE_FAILED in line 1, column 11$/],
  ['%hush\n---\nx: 1', /: BAD_DIRECTIVE in line 1, column 1$/],
  ['x: 1\n---\nx: hush', /: it is no YAML that can be used: MULTIPLE_DOCS in line 2, column 1$/],
  ['x'.repeat(1_048_577), /has more than 1048576 octets$/],
])('a file %j is refused', (text, says) => {
  const access = kubernetesAccess(written(tempDir('kubeconfig'), text), {})
  expect(access.ok ? 'taken' : access.error).toMatch(says)
  expect(access.ok ? '' : access.error).not.toContain('hush')
})

test.each([
  'token',
  'tokenFile',
  'username',
  'password',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
])('a %s that is no text is refused, and null is as good as absent', async (key) => {
  for (const value of [12_345, true, ['hush'], { hush: 1 }]) {
    expect(await credentialsOf({ user: { [key]: value } })).toMatch(
      `cannot be used: ${key} is no text`,
    )
  }
  expect(await credentialsOf({ user: { [key]: null } })).toEqual({ headers: {}, tls: {} })
})

test('a null is as good as absent', async () => {
  const cluster = { 'tls-server-name': null, 'insecure-skip-tls-verify': null, 'proxy-url': null }
  const user = { exec: null, 'auth-provider': null, token: 't' }
  const headers = { authorization: 'Bearer t' }
  expect(await credentialsOf({ cluster, user })).toEqual({ headers, tls: {} })
})

test('a warning tells nothing of a file', async () => {
  const told: string[] = []
  const tell = (warning: Error) => void told.push(warning.message)
  process.on('warning', tell)
  onTestFinished(() => void process.off('warning', tell))
  for (const text of ['password: !hush x', '? [hush]\n: x', '%hush\n---\nx: 1']) {
    kubernetesAccess(written(tempDir('kubeconfig'), text), {})
  }
  await new Promise((done) => setImmediate(done))
  expect(told).toEqual([])
})

test('any file is accepted or refused', async () => {
  const folder = tempDir('kubeconfig')
  const keys = ['current-context', 'contexts', 'clusters', 'users', 'name', 'context', 'cluster']
  const key = fc.constantFrom(...keys, 'user', 'server', 'token', 'exec', 'args')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 7, '', 'x', 'https://x'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 5 }),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(value, async (config) => {
      const access = kubernetesAccess(written(folder, JSON.stringify(config)), {})
      if (access.ok) await access.value.credentials(signal).catch(() => undefined)
      else expect(access.error).toContain('cannot be used: ')
    }),
  )
})
