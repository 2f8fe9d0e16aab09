// gRPC health checks: against the library that servers use, and against servers that lie.
import { Server, ServerCredentials, status as grpcStatus } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { createServer } from 'node:http2'
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { healthRequest, readHealthResponse } from '#health/probes/grpc-message.ts'
import {
  refusingPort,
  startHttpBackend,
  startRawBackend,
  startTcpBackend,
  testCertificate,
} from '#test/support/backend.ts'
import { unlessStalled } from './check.ts'
import { probeOne, wordsOf } from './probe-one.ts'
import { testProbes } from './probe-table.ts'
import { use } from '#test/support/used-backend.ts'

const fixture = (name: string): string =>
  join(import.meta.dirname, '../../fixtures/tls', `${name}.pem`)
const { probes } = testProbes({
  clientCertificates: { mine: { cert: fixture('named.cert'), key: fixture('named.key') } },
})

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

interface GrpcServer {
  readonly port: number
  readonly health: HealthImplementation
}

async function startGrpc(credentials = ServerCredentials.createInsecure()): Promise<GrpcServer> {
  const health = new HealthImplementation({ '': 'SERVING', 'shop.v1.Cart': 'NOT_SERVING' })
  const server = new Server()
  health.addToServer(server)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  cleanups.push(() => {
    server.forceShutdown()
  })
  return { port, health }
}

async function ask(port: number, given: Partial<HealthCheckModel> = {}): Promise<string> {
  return wordsOf(await probeOne(probes, { type: 'grpc', port, ...given }))
}

describe('a server of @grpc/grpc-js', () => {
  test('is healthy while it says SERVING, and measures the handshake', async () => {
    const { port, health } = await startGrpc()
    const result = await probeOne(probes, { type: 'grpc', port })
    expect(wordsOf(result)).toBe('success')
    expect(result.rttMs).toBeGreaterThan(0)
    health.setStatus('', 'NOT_SERVING')
    expect(await ask(port)).toBe('failure: gRPC health NOT_SERVING, expected SERVING')
    health.setStatus('', 'SERVING')
    expect(await ask(port)).toBe('success')
  })

  test.each([
    ['shop.v1.Cart', 'failure: gRPC health NOT_SERVING, expected SERVING'],
    ['shop.v1.Nobody', 'failure: gRPC status NOT_FOUND: it has no service "shop.v1.Nobody"'],
    ['x'.repeat(255), `failure: gRPC status NOT_FOUND: it has no service "${'x'.repeat(255)}"`],
  ])('is asked for grpcService "%s"', async (grpcService, words) => {
    const { port } = await startGrpc()
    expect(await ask(port, { grpcService })).toBe(words)
  })

  test('without a health service says so', async () => {
    const server = new Server()
    const port = await new Promise<number>((resolve) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, bound) => {
        resolve(bound)
      })
    })
    cleanups.push(() => {
      server.forceShutdown()
    })
    expect(await ask(port)).toBe('failure: the backend has no gRPC health service')
    expect(grpcStatus.UNIMPLEMENTED).toBe(12)
  })

  test('over TLS is verified, and may demand a client certificate', async () => {
    const { cert, key } = testCertificate('addressed')
    const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }
    const authority = Buffer.from(testCertificate('named').cert)
    const { port } = await startGrpc(ServerCredentials.createSsl(authority, [pair], true))
    const tls = { tls: true, insecureSkipVerify: true }
    expect(await ask(port, { tls: true })).toBe('failure: the certificate is self-signed')
    expect(await ask(port, tls)).toBe('failure: the backend wants a client certificate')
    expect(await ask(port, { ...tls, clientCertificate: 'mine' })).toBe('success')
  })
})

describe('a port without a gRPC server', () => {
  test('refuses the connection', async () => {
    expect(await ask(await refusingPort())).toBe('failure: connection refused')
  })

  test('a server of HTTP/1.1', async () => {
    const { port } = await use(startHttpBackend())
    expect(await ask(port)).toBe('failure: the backend does not speak HTTP/2')
  })

  test('a TLS server that does not speak HTTP/2', async () => {
    const certificate = testCertificate('addressed')
    const { port } = await use(startHttpBackend({ certificate }))
    const words = await ask(port, { tls: true, insecureSkipVerify: true })
    expect(words).toMatch(/^failure: the backend does not speak/)
  })

  test('a server that says nothing is given timeoutMs', async () => {
    const backend = await use(startTcpBackend((socket) => socket.resume()))
    const check = { type: 'grpc', port: backend.port, timeoutMs: 150 } as const
    const result = await unlessStalled(() => probeOne(probes, check))
    expect(wordsOf(result)).toBe('timeout: no result within 150 ms')
    await expect.poll(() => backend.openCount()).toBe(0)
  })
})

const whole = Buffer.from([0, 0, 0, 0, 2, 8, 1])
const grpc = { ':status': 200, 'content-type': 'application/grpc' }

/** An HTTP/2 server that answers as the test says. */
async function startHttp2(
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
): Promise<number> {
  const server: Http2Server = createServer()
  server.on('sessionError', () => undefined)
  const sessions = new Set<{ destroy: () => void }>()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined)
    answer(stream, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    for (const session of sessions) session.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

function trailing(stream: ServerHttp2Stream, data: Buffer, trailers: Record<string, string>): void {
  stream.respond(grpc, { waitForTrailers: true })
  stream.on('wantTrailers', () => {
    stream.sendTrailers(trailers)
  })
  stream.end(data)
}

test('the authority has no final dot of httpHost', async () => {
  let authority: unknown
  const port = await startHttp2((stream, headers) => {
    authority = headers[':authority']
    trailing(stream, whole, { 'grpc-status': '0' })
  })
  expect(await ask(port, { httpHost: 'shop.example.com.:50051' })).toBe('success')
  expect(authority).toBe('shop.example.com:50051')
})

const replies: readonly (readonly [
  what: string,
  answer: (stream: ServerHttp2Stream) => void,
  words: string,
])[] = [
  ['whole', (s) => trailing(s, whole, { 'grpc-status': '0' }), 'success'],
  [
    'a status of HTTP',
    (s) => s.respond({ ':status': 503 }, { endStream: true }),
    'failure: HTTP 503, expected 200',
  ],
  [
    'an error without a message',
    (s) => s.respond({ ...grpc, 'grpc-status': '14', 'grpc-message': 'evil' }, { endStream: true }),
    'failure: gRPC status UNAVAILABLE, expected OK',
  ],
  ['no status', (s) => trailing(s, whole, {}), 'failure: the response is not gRPC'],
  [
    'a status that is none',
    (s) => trailing(s, whole, { 'grpc-status': 'constructor' }),
    'failure: the response is not gRPC',
  ],
  [
    'an empty status',
    (s) => trailing(s, whole, { 'grpc-status': '' }),
    'failure: the response is not gRPC',
  ],
  [
    'a status of the future',
    (s) => trailing(s, whole, { 'grpc-status': '99' }),
    'failure: the response is not gRPC',
  ],
  [
    'no message',
    (s) => trailing(s, Buffer.alloc(0), { 'grpc-status': '0' }),
    'failure: the response is no gRPC health response',
  ],
  [
    'an empty message, which is UNKNOWN',
    (s) => trailing(s, Buffer.alloc(5), { 'grpc-status': '0' }),
    'failure: gRPC health UNKNOWN, expected SERVING',
  ],
  [
    'a serving status of the future',
    (s) => trailing(s, Buffer.from([0, 0, 0, 0, 2, 8, 77]), { 'grpc-status': '0' }),
    'failure: gRPC health of an unknown kind, expected SERVING',
  ],
  [
    'a negative serving status',
    (s) =>
      trailing(s, Buffer.from('000000000d080108ffffffffffffffffff01', 'hex'), {
        'grpc-status': '0',
      }),
    'failure: gRPC health UNKNOWN, expected SERVING',
  ],
  [
    'a serving status as 32 bits, which is another field',
    (s) => trailing(s, Buffer.from('00000000050d01000000', 'hex'), { 'grpc-status': '0' }),
    'failure: gRPC health UNKNOWN, expected SERVING',
  ],
  [
    'an endless message',
    (s) => {
      s.respond(grpc)
      const flood = (): void => {
        if (!s.destroyed) s.write(Buffer.alloc(16_384), flood)
      }
      flood()
    },
    'failure: the response is too long',
  ],
  [
    'interim responses without end',
    (s) => {
      for (let i = 0; i < 20; i++) s.additionalHeaders({ ':status': 103 })
    },
    'failure: too many interim responses',
  ],
  [
    'a stream that is called off',
    (s) => s.close(8),
    'failure: connection closed before a response',
  ],
  ['a stream that fails', (s) => s.close(2), 'failure: HTTP/2 failed (ERR_HTTP2_STREAM_ERROR)'],
  [
    'a connection that goes away',
    (s) => s.session?.socket.destroy(),
    'failure: connection closed before a response',
  ],
]
test.each(replies)('an HTTP/2 server that answers %s', async (_what, answer, words) => {
  expect(await ask(await startHttp2(answer))).toBe(words)
})

test('each of 300 mangled streams of frames ends in one result, and none throws', async () => {
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
  const headers = Buffer.from([0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])
  const data = Buffer.concat([Buffer.from([0, 0, 7, 0, 1, 0, 0, 0, 1]), whole])
  const sane = Buffer.concat([settings, headers, data])
  let bytes = sane
  const backend = await use(startRawBackend((socket) => socket.end(bytes)))
  const mangled = fc.tuple(fc.nat(sane.length - 1), fc.uint8Array({ maxLength: 40 }), fc.nat(9))
  await fc.assert(
    fc.asyncProperty(mangled, async ([at, inserted, cut]) => {
      bytes = Buffer.concat([sane.subarray(0, at), inserted, sane.subarray(at + cut)])
      const words = await ask(backend.port)
      expect(words).toMatch(/^(failure|success)/)
      // No octet of the backend's is in the reason.
      expect(words.length).toBeLessThan(100)
    }),
    { numRuns: 300, seed: 20_261_123 },
  )
})

test('no octets make the reader of messages throw, or accept what is not whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => {
      const message = Buffer.from(octets)
      readHealthResponse(message)
      const prefix = Buffer.alloc(5)
      prefix.writeUInt32BE(message.length, 1)
      const status = readHealthResponse(Buffer.concat([prefix, message]))
      expect(status === undefined || status >= 0).toBe(true)
      expect(readHealthResponse(Buffer.concat([prefix, message, Buffer.alloc(1)]))).toBe(undefined)
    }),
    { numRuns: 5_000, seed: 20_261_123 },
  )
})

test.each([
  ['', '0000000000'],
  ['a', '00000000030a0161'],
])('a request for "%s" is %s', (service, hex) => {
  expect(healthRequest(service).toString('hex')).toBe(hex)
})
