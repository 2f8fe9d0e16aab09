// Certificates from Pebble, for a whole process: proven by TXT records of its own zone, used by DNS
// over TLS, DNS over HTTPS and the API without a restart, renewed, and kept while Pebble is away.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import type { DetailedPeerCertificate } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAcmeServer } from '#test/support/acme-server.ts'
import type { AcmeServer } from '#test/support/acme-server.ts'
import { mainPath, useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const names = ['ns1.example.com', '*.gslb.example.com']
const inner = 'inner.example.com'
const validitySeconds = 60
const { start } = useDaemons({ GSLB_API_KEY: bearer, GSLB_SECRET_KEY: 'ef'.repeat(32) })
const patience = { timeoutMs: 120_000 }
let site: Site
let ca: AcmeServer
let daemon: DaemonProcess
let ports: Readonly<Record<'dns' | 'tls' | 'https' | 'api', number>>
let root: string

beforeAll(async () => {
  const [dns, tls, https, api] = await Promise.all([1, 2, 3, 4].map(freePort))
  ports = { dns: dns!, tls: tls!, https: https!, api: api! }
  ca = await startAcmeServer(ports.dns, { validitySeconds })
  root = await ca.root()
  site = await Site.make('acme', {
    acme: {
      ...{ names, directory: ca.directoryUrl, agreeToTerms: true, contact: ['ops@example.com'] },
      ...{ caFile: './ca.pem', propagation: '0s', certificates: { inner: { names: [inner] } } },
    },
    dns: {
      ...{ port: ports.dns, tls: { port: ports.tls, acme: true } },
      https: { enabled: true, port: ports.https },
    },
    api: { port: ports.api, tls: { acme: true, certificates: { mine: { acme: 'inner' } } } },
  })
  copyFileSync(ca.certificate, join(site.path, 'ca.pem'))
  await site.push()
  daemon = await start('serve', '--settings', site.settingsFile)
}, 300_000)
afterAll(async () => {
  await ca.stop()
  site.remove()
})

/** The certificate that a client gets, which believes the root of Pebble alone. */
async function servedAt(port: number, ALPNProtocols: string[] = [], servername = names[0]) {
  const { promise, resolve, reject } = Promise.withResolvers<DetailedPeerCertificate>()
  const socket = connect({ port, host: '127.0.0.1', servername, ca: root, ALPNProtocols })
  socket.once('error', reject)
  socket.once('secureConnect', () => resolve(socket.getPeerCertificate(true)))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

const serialAt = async (port: number, alpn?: string[]): Promise<string> =>
  servedAt(port, alpn).then(
    ({ serialNumber }) => serialNumber,
    () => '',
  )

async function overApi(path: string): Promise<string> {
  const sent = get({
    ...{ host: '127.0.0.1', port: ports.api, path, servername: names[0], ca: root, agent: false },
    headers: { authorization: `Bearer ${bearer}` },
  })
  const { promise, resolve, reject } = Promise.withResolvers<Parameters<typeof text>[0]>()
  sent.once('response', resolve).once('error', reject)
  return await text(await promise)
}

async function status(): Promise<{ readonly text: string; readonly code: number | null }> {
  const file = join(site.path, 'root.pem')
  writeFileSync(file, root)
  // The API is at an address; its certificate is of names.
  const env = { GSLB_API_KEY: bearer, NODE_EXTRA_CA_CERTS: file, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const url = `https://127.0.0.1:${ports.api}`
  return await saidBy(process.execPath, [mainPath, 'acme', 'status', '--url', url], { env })
}

test('a first start gets a certificate, which DNS over TLS and HTTPS and the API use', async () => {
  await waitUntil('a certificate', async () => (await serialAt(ports.tls)) !== '', patience)
  const { subjectaltname } = await servedAt(ports.tls)
  expect(subjectaltname).toContain('DNS:ns1.example.com')
  expect(subjectaltname).toContain('DNS:*.gslb.example.com')
  const serial = await serialAt(ports.tls)
  expect(await serialAt(ports.https, ['h2'])).toBe(serial)
  await waitUntil('the API has it', async () => (await serialAt(ports.api)) === serial, patience)
  const file = join(site.path, 'root.pem')
  writeFileSync(file, root)
  const asked = [
    '@127.0.0.1',
    '-p',
    `${ports.tls}`,
    `+tls-ca=${file}`,
    '+tls-hostname=ns1.example.com',
  ]
  const { text: said } = await saidBy('kdig', [...asked, '+short', 'www.example.com', 'A'])
  expect(said).toContain('192.0.2.1')
})

test('an entry has a certificate of its own, shown where it is used and asked for', async () => {
  const shown = async (): Promise<string | undefined> =>
    servedAt(ports.api, [], inner).then(
      ({ subjectaltname }) => subjectaltname,
      () => undefined,
    )
  await waitUntil('the second', async () => (await shown()) !== undefined, patience)
  expect(await shown()).toBe(`DNS:${inner}`)
  // DNS over TLS does not use it.
  await expect(servedAt(ports.tls, [], inner)).rejects.toThrow(/altnames/)
})

test('the status says what there is, and neither disk nor log has a private key', async () => {
  const said = await status()
  expect(said.text).toContain('ns1.example.com, *.gslb.example.com\n')
  expect(said.text).toMatch(/serves until 20\S+Z, is renewed from 20\S+Z on/)
  expect(said.text).toContain(`inner: ${inner}\n`)
  expect(said.code).toBe(0)
  const [shown] = JSON.parse(await overApi('/api/v1/acme/certificates')) as [object]
  expect(shown).toMatchObject({ directory: ca.directoryUrl, failure: null, fault: null })
  expect(JSON.stringify(shown)).not.toContain('PRIVATE')
  expect(daemon.output).not.toContain('PRIVATE')
  expect(readFileSync(join(site.dataDir, 'certificates.copy'), 'utf8')).toMatch(/^v1\./)
})

test('the proofs of a finished order are gone from the zone', async () => {
  const { text: said } = await saidBy('dig', [
    ...['@127.0.0.1', '-p', `${ports.dns}`, '+short', '_acme-challenge.ns1.example.com', 'TXT'],
  ])
  expect(said).toBe('')
})

test('at two thirds of its time another one takes over without a restart', async () => {
  const before = await serialAt(ports.tls)
  await waitUntil('a renewal', async () => (await serialAt(ports.tls)) !== before, patience)
  const after = await serialAt(ports.tls)
  expect(after).not.toBe('')
  await waitUntil('the API has it', async () => (await serialAt(ports.api)) === after, patience)
  expect(daemon.pid).toBeGreaterThan(0)
})

test('while Pebble is away the certificate serves, and the status says until when', async () => {
  const before = await serialAt(ports.tls)
  await ca.stop()
  const failed = async () => (await status()).text.includes('the last try failed')
  await waitUntil('a failed renewal', failed, patience)
  const said = await status()
  expect(said.text).toMatch(/\(away\): 127\.0\.0\.1:\d+ cannot be asked: ECONNREFUSED/)
  expect(said.text).toMatch(/tried again at 20\S+Z/)
  expect(said.code).toBe(1)
  expect([before, '']).toContain(await serialAt(ports.tls))
  expect(daemon.logged('no new certificate; the one before serves until')).toBeDefined()
})

test('after a restart without Pebble the certificate of the disk serves', async () => {
  await daemon.stop()
  daemon = await start('serve', '--settings', site.settingsFile)
  const { text: said } = await saidBy('openssl', [
    ...['s_client', '-connect', `127.0.0.1:${ports.tls}`, '-servername', 'ns1.example.com'],
  ])
  expect(said).toContain('BEGIN CERTIFICATE')
}, 300_000)
