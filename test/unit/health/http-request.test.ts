// Tests the requests of checks over HTTP, the statuses that pass, and the certificate of the
// client.
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { ClientCertificates } from '#health/probes/client-certificates.ts'
import { healthLimits } from '#health/limits.ts'
import { startHttpBackend, testCertificate } from '#test/support/backend.ts'
import type { HttpBackend } from '#test/support/backend.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { probeOne, wordsOf } from './probe-one.ts'
import { testProbes } from './probe-table.ts'

const { probes } = testProbes()
const fixture = (name: string): string =>
  join(import.meta.dirname, '../../fixtures/tls', `${name}.pem`)

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function backend(status = 200): Promise<HttpBackend> {
  const started = await startHttpBackend()
  cleanups.push(() => started.close())
  started.answer((_request, response) => response.writeHead(status).end('ok'))
  return started
}

test.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'] as const)(
  'httpMethod %s is the method of the request, which has no body',
  async (httpMethod) => {
    const started = await backend()
    let seen: unknown
    started.answer(({ method, headers }, response) => {
      seen = [method, headers['content-length'] ?? '0', headers['transfer-encoding']]
      response.end()
    })
    const result = await probeOne(probes, { type: 'http', port: started.port, httpMethod })
    expect(wordsOf(result)).toBe('success')
    expect(seen).toEqual([httpMethod, '0', undefined])
  },
)

test('httpHeaders are sent, and may replace what the node says of itself', async () => {
  const started = await backend()
  let seen: unknown
  started.answer(({ headers }, response) => {
    seen = headers
    response.end()
  })
  const httpHeaders = { 'X-Probe': 'a, b', 'User-Agent': 'other/1' }
  const check = { type: 'http', port: started.port, httpHeaders, httpHost: 'a.example' } as const
  expect(wordsOf(await probeOne(probes, check))).toBe('success')
  expect(seen).toMatchObject({ 'x-probe': 'a, b', 'user-agent': 'other/1', host: 'a.example' })
})

test.each([
  ['www.example.com.', 'www.example.com'],
  ['www.example.com.:8443', 'www.example.com:8443'],
  ['www.example.com', 'www.example.com'],
])('the Host of httpHost %s is %s', async (httpHost, host) => {
  const started = await backend()
  let seen: unknown
  started.answer(({ headers }, response) => {
    seen = headers.host
    response.end()
  })
  expect(wordsOf(await probeOne(probes, { type: 'http', port: started.port, httpHost }))).toBe(
    'success',
  )
  expect(seen).toBe(host)
})

test('a header field that holds a line break is not sent', async () => {
  const started = await backend()
  const check = { type: 'http', port: started.port, httpHeaders: { a: 'b\r\nc: d' } } as const
  expect(wordsOf(await probeOne(probes, check))).toContain('a character that cannot be sent')
  expect(started.requests).toEqual([])
})

const statuses: readonly (readonly [
  status: number,
  expected: HealthCheckModel['httpExpectedStatuses'],
  words: string,
])[] = [
  [200, [[200, 299]], 'success'],
  [299, [[200, 299]], 'success'],
  [300, [[200, 299]], 'failure: HTTP 300, expected 200-299'],
  [503, [[200, 299]], 'failure: HTTP 503, expected 200-299'],
  [302, [[200, 200], [301, 302]], 'success'], // prettier-ignore
  [404, [[200, 200], [301, 302]], 'failure: HTTP 404, expected 200, 301-302'], // prettier-ignore
]
test.each(statuses)('%i, where %j is expected: %s', async (status, expected, words) => {
  const { port } = await backend(status)
  // Where statuses are listed, only they count.
  const one = { type: 'http', port, httpExpectedStatus: 404 } as const
  const result = await probeOne(probes, { ...one, httpExpectedStatuses: expected })
  expect(wordsOf(result)).toBe(words)
})

/** Believes the certificate `named` of its clients, and no other. */
async function demandingBackend(): Promise<number> {
  const ca = testCertificate('named').cert
  const server = createServer(
    { ...testCertificate('addressed'), ca, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN)
    },
  )
  server.on('tlsClientError', () => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

const files = (name: string) => ({ cert: fixture(`${name}.cert`), key: fixture(`${name}.key`) })

test.each([
  ['named', 'success'],
  ['', 'failure: the backend wants a client certificate'],
  // A server of Node.js says nothing; others send an alert.
  ['unknown', /^failure: connection (closed before a response|reset)$/],
  ['missing', 'local-error: this node cannot use its client certificate "missing"'],
  ['nobody', 'local-error: this node has no client certificate "nobody"'],
])('clientCertificate "%s" is shown over TLS: %s', async (clientCertificate, words) => {
  const port = await demandingBackend()
  const own = testProbes({
    clientCertificates: {
      named: files('named'),
      unknown: files('unknown'),
      missing: { cert: '/no/such/file', key: '/no/such/file' },
    },
  })
  const check = { type: 'http', port, tls: true, insecureSkipVerify: true } as const
  for (let i = 0; i < 2; i++) {
    const result = await probeOne(own.probes, { ...check, clientCertificate })
    expect(wordsOf(result)).toMatch(words)
  }
  // What a node cannot read is said once.
  const line = 'a client certificate for health checks cannot be used'
  expect(own.lines).toEqual(clientCertificate === 'missing' ? [line] : [])
})

test('a certificate that is renewed is taken over; one that is half written is not', () => {
  const folder = tempDir()
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const copy = (name: string): void => {
    copyFileSync(fixture(`${name}.cert`), cert)
    copyFileSync(fixture(`${name}.key`), key)
  }
  let nowMs = 0
  const note = (): void => undefined
  const clock = { monotonicMs: () => nowMs, nowMs: () => nowMs }
  const certificates = new ClientCertificates(
    { clientCertificates: { probes: { cert, key } } },
    clock,
    { info: note, warn: note, error: note },
  )
  copy('named')
  const first = certificates.contextOf('probes')
  expect(first.ok).toBe(true)
  nowMs += healthLimits.clientCertificateMs
  expect(certificates.contextOf('probes')).toEqual(first)
  writeFileSync(cert, '-----BEGIN')
  nowMs += healthLimits.clientCertificateMs
  expect(certificates.contextOf('probes')).toBe(first)
  copy('unknown')
  expect(certificates.contextOf('probes')).toBe(first)
  nowMs += healthLimits.clientCertificateMs
  const renewed = certificates.contextOf('probes')
  expect([renewed.ok, renewed === first]).toEqual([true, false])
})
