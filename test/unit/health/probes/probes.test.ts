import { describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import {
  refusingPort,
  startHttpBackend,
  startRawBackend,
  startTcpBackend,
} from '../../../support/backend.ts'
import type { Backend, HttpBackend } from '../../../support/backend.ts'
import { probeTarget, unlessStalled } from '../check.ts'
import { testProbes } from '../probe-table.ts'
import { use } from '#test/support/used-backend.ts'

const { probes } = testProbes()

function probe(check: Partial<HealthCheckModel>, ipAddress?: string): Promise<ProbeResult> {
  const target = probeTarget('m1', check, ipAddress)
  return new Promise((resolve) => probes[target.check.type].run(target, resolve))
}

const http = (port: number, given: Partial<HealthCheckModel> = {}): Partial<HealthCheckModel> => ({
  type: 'http',
  port,
  ...given,
})

describe('tcp', () => {
  test('succeeds when the connection is established, and measures the handshake', async () => {
    const { port } = await use(startTcpBackend())
    const { outcome, rttMs, reason } = await probe({ port })
    expect([outcome, reason]).toEqual(['success', ''])
    expect(rttMs).toBeGreaterThan(0)
    expect(rttMs).toBeLessThan(20_000)
  })

  test('fails when nobody listens', async () => {
    const result = await probe({ port: await refusingPort() })
    expect(result).toEqual({ outcome: 'failure', rttMs: 0, reason: 'connection refused' })
  })

  test('closes its connection afterwards', async () => {
    const backend = await use(startTcpBackend((socket) => socket.resume()))
    await probe({ port: backend.port })
    await expect.poll(() => [backend.connectionCount(), backend.openCount()]).toEqual([1, 0])
  })

  test('reports nothing once cancelled', async () => {
    const { port } = await use(startTcpBackend())
    let reports = 0
    const cancel = probes.tcp.run(probeTarget('m1', { port }), () => reports++)
    cancel()
    await probe({ port })
    expect(reports).toBe(0)
  })
})

describe('http: status and body', () => {
  const rows: [string, number, string, Partial<HealthCheckModel>, string][] = [
    ['the default expects 200', 200, '', {}, ''],
    ['another status fails', 503, '', {}, 'HTTP 503, expected 200'],
    ['another status can be the expected one', 204, '', { httpExpectedStatus: 204 }, ''],
    ['0 ignores the status', 500, '', { httpExpectedStatus: 0 }, ''],
    ['a redirect is a status', 302, '', {}, 'HTTP 302, expected 200'],
    ['a redirect can be expected', 302, '', { httpExpectedStatus: 302 }, ''],
    ['the text is in the body', 200, 'all is well', { httpContains: 'is well' }, ''],
    [
      'the text is not in the body',
      200,
      'no',
      { httpContains: 'yes' },
      'the body lacks the text in httpContains',
    ],
    ['text is compared as UTF-8', 200, 'état: près', { httpContains: 'près' }, ''],
    [
      'the text does not save a wrong status',
      500,
      'ok',
      { httpContains: 'ok' },
      'HTTP 500, expected 200',
    ],
    [
      'status ignored, text missing',
      500,
      'x',
      { httpExpectedStatus: 0, httpContains: 'ok' },
      'the body lacks the text in httpContains',
    ],
  ]
  test.each(rows)('%s', async (_name, status, body, check, reason) => {
    const backend = await use(startHttpBackend())
    backend.answer((_request, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end(body)
    })
    const result = await probe(http(backend.port, check))
    expect([result.outcome, result.reason]).toEqual([reason === '' ? 'success' : 'failure', reason])
    expect(backend.requests.length).toBe(1)
  })
})

describe('http: the request', () => {
  const asks = async (backend: HttpBackend, check: Partial<HealthCheckModel>): Promise<unknown> => {
    const { outcome, reason } = await probe(http(backend.port, check))
    expect([outcome, reason]).toEqual(['success', ''])
    return backend.requests.at(-1)
  }

  test('is a GET for the path, with the address as Host', async () => {
    const backend = await use(startHttpBackend())
    expect(await asks(backend, { httpPath: '/healthz?deep=1' })).toEqual({
      method: 'GET',
      url: '/healthz?deep=1',
      host: `127.0.0.1:${backend.port}`,
      sni: '',
    })
  })

  test('has httpHost as Host, while the connection goes to the member', async () => {
    const backend = await use(startHttpBackend())
    expect(await asks(backend, { httpHost: 'www.example.com' })).toMatchObject({
      host: 'www.example.com',
    })
  })

  test('uses a new connection each time', async () => {
    const backend = await use(startHttpBackend())
    await asks(backend, {})
    await asks(backend, {})
    expect(backend.connectionCount()).toBe(2)
    await expect.poll(() => backend.openCount()).toBe(0)
  })

  test('asks for a connection that is closed and a body that is not compressed', async () => {
    const backend = await use(startHttpBackend())
    let seen: unknown
    backend.answer(({ headers }, response) => {
      seen = headers
      response.end()
    })
    await asks(backend, {})
    expect(seen).toMatchObject({ connection: 'close', 'accept-encoding': 'identity' })
  })

  test.each([
    ['httpPath', { httpPath: '/a b\r\nX: y' }],
    ['httpHost', { httpHost: 'a\r\nb' }],
  ])('is not sent with a line break in %s', async (_name, check) => {
    const backend = await use(startHttpBackend())
    const { outcome, reason } = await probe(http(backend.port, check))
    expect(outcome).toBe('failure')
    expect(reason).toBe('the check holds a character that cannot be sent')
    expect(backend.requests).toEqual([])
  })
})

describe('http: the cap of 1 MB', () => {
  const cap = 1_048_576
  const rows: [string, number, 'success' | 'failure'][] = [
    ['finds a text that ends at the cap', cap - 6, 'success'],
    ['does not find a text that ends one byte after it', cap - 5, 'failure'],
    ['finds a text at the start', 0, 'success'],
  ]
  test.each(rows)('%s', async (_name, before, outcome) => {
    const backend = await use(startHttpBackend())
    backend.answer((_request, response) => {
      response.end(
        Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from('needle'), Buffer.alloc(99)]),
      )
    })
    expect((await probe(http(backend.port, { httpContains: 'needle' }))).outcome).toBe(outcome)
  })

  test.each([
    [
      'an endless body',
      'transfer-encoding: chunked',
      Buffer.from('10000\r\n' + 'x'.repeat(65_536) + '\r\n'),
    ],
    ['a body of 1 GB', 'content-length: 1000000000', Buffer.alloc(65_536, 'x')],
    ['a body until the connection closes', 'connection: close', Buffer.alloc(65_536, 'x')],
  ])('stops reading %s there', async (_name, header, piece) => {
    let sentBytes = 0
    const backend = await use(
      startRawBackend((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`)
        const flood = (): void => {
          if (socket.destroyed) return
          sentBytes += piece.length
          socket.write(piece, flood)
        }
        flood()
      }),
    )
    const { outcome, reason } = await probe(http(backend.port, { httpContains: 'never' }))
    expect([outcome, reason]).toEqual([
      'failure',
      'the first 1 MB of the body lacks the text in httpContains',
    ])
    await expect.poll(() => backend.openCount()).toBe(0)
    // The cap, and what both kernels hold of a connection.
    expect(sentBytes).toBeLessThan(32 * cap)
  })
})

describe('http: hostile and broken backends', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const check = { httpContains: 'never', timeoutMs: 20_000 }
  test.each([
    ['garbage', 'not HTTP\r\n\r\n', 'the response is not HTTP'],
    ['binary garbage', '\0\xff\x16\x03\x01', 'the response is not HTTP'],
    ['headers of 100 kB', head + 'a: b\r\n'.repeat(20_000), 'the response headers are too long'],
    [
      'one header of 100 kB',
      `${head}a: ${'b'.repeat(100_000)}`,
      'the response headers are too long',
    ],
    [
      'interim responses without end',
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50),
      'too many interim responses',
    ],
    [
      'two lengths',
      `${head}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`,
      'the response is not HTTP',
    ],
  ])('%s', async (_name, bytes, reason) => {
    const backend = await use(startRawBackend((socket) => socket.write(bytes, 'latin1')))
    const result = await probe(http(backend.port, check))
    expect([result.outcome, result.reason]).toEqual(['failure', reason])
    await expect.poll(() => backend.openCount()).toBe(0)
  })

  test.each([
    ['closes without a response', '', 'connection closed before a response'],
    ['closes inside the headers', `${head}a:`, 'connection closed before a response'],
    [
      'closes inside the body',
      `${head}content-length: 9\r\n\r\nx`,
      'connection closed inside the body',
    ],
  ])('a backend that %s', async (_name, bytes, reason) => {
    const backend = await use(startRawBackend((socket) => socket.end(bytes)))
    const result = await probe(http(backend.port, check))
    expect([result.outcome, result.reason]).toEqual(['failure', reason])
  })

  test('a backend that resets the connection', async () => {
    const backend = await use(startRawBackend((socket) => socket.resetAndDestroy()))
    const result = await probe(http(backend.port, check))
    expect([result.outcome, result.reason]).toEqual(['failure', 'connection reset'])
  })

  test('an upgrade is judged by its status', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'
    const backend = await use(startRawBackend((socket) => socket.write(upgrade)))
    const result = await probe(http(backend.port, check))
    expect([result.outcome, result.reason]).toEqual(['failure', 'HTTP 101, expected 200'])
  })
})

describe('timeoutMs covers', () => {
  const trickle = (socket: { destroyed: boolean; write: (text: string) => unknown }): void => {
    const timer = setInterval(() => {
      if (socket.destroyed) clearInterval(timer)
      else socket.write('1\r\nx\r\n')
    }, 10)
  }
  const rows: [string, () => Promise<Backend>, Partial<HealthCheckModel>][] = [
    ['the wait for the headers', () => startTcpBackend((s) => s.resume()), {}],
    ['the TLS handshake', () => startTcpBackend((s) => s.resume()), { tls: true }],
    [
      'headers that never end',
      () => startRawBackend((s) => s.write('HTTP/1.1 200 OK\r\na: b\r\n')),
      {},
    ],
    [
      'a body that trickles for ever',
      () =>
        startRawBackend((s) => {
          s.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
          trickle(s)
        }),
      { httpContains: 'never' },
    ],
  ]
  test.each(rows)('%s', async (_name, start, check) => {
    const backend = await use(start())
    const startedMs = performance.now()
    const given = http(backend.port, { ...check, timeoutMs: 150 })
    const result = await unlessStalled(() => probe(given))
    const tookMs = performance.now() - startedMs
    expect([result.outcome, result.reason]).toEqual(['timeout', 'no result within 150 ms'])
    expect(tookMs).toBeGreaterThan(140)
    await expect.poll(() => backend.openCount()).toBe(0)
  })
})

describe('a thread that was busy past the deadline', () => {
  const block = (durationMs: number): void => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs)
  }

  test('still reads what came in time', async () => {
    const { port } = await use(startTcpBackend())
    const result = probe({ port, timeoutMs: 50 })
    block(200)
    expect((await result).outcome).toBe('success')
  })

  test('does not blame a backend that it gave no time', async () => {
    const { port } = await use(startTcpBackend((socket) => socket.resume()))
    const result = probe(http(port, { timeoutMs: 50 }))
    block(400)
    expect(await result).toMatchObject({ outcome: 'local-error', reason: 'this node was stalled' })
  })
})

test('IPv6 members are probed, with their address in brackets as Host', async () => {
  const backend = await use(startHttpBackend({ address: '::1' }))
  expect((await probe(http(backend.port), '::1')).outcome).toBe('success')
  expect(backend.requests[0]?.host).toBe(`[::1]:${backend.port}`)
})
