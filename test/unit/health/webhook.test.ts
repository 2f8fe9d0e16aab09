// Tests the requests of webhook checks, the answers that count, and servers that answer badly.
import { describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import {
  startHttpBackend,
  startRawBackend,
  startTcpBackend,
  testCertificate,
} from '#test/support/backend.ts'
import { probeTarget, unlessStalled } from './check.ts'
import { testProbes } from './probe-table.ts'
import { use } from '#test/support/used-backend.ts'

const { probes } = testProbes({ webhookAllowedHosts: ['127.0.0.1', '::1/128'] })

function probe(webhookURL: string, given: Partial<HealthCheckModel> = {}): Promise<ProbeResult> {
  const check = { type: 'webhook', webhookURL, port: 8443, ...given } as const
  return new Promise((resolve) =>
    probes.webhook.run(probeTarget('m1', check, '2001:db8::7'), resolve),
  )
}

describe('the request', () => {
  test.each([
    ['POST', { webhookMethod: 'POST' }, '{"ip":"2001:db8::7","port":8443}', 'application/json'],
    ['GET', { webhookMethod: 'GET' }, '', undefined],
  ] as const)('has the right body for %s', async (method, given, body, type) => {
    const backend = await use(startHttpBackend())
    const seen: unknown[] = []
    backend.answer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      request.on('end', () => {
        seen.push(text, request.headers['content-type'])
        response.writeHead(204).end()
      })
    })
    const result = await probe(`http://127.0.0.1:${backend.port}/hook?a=1`, given)
    expect(result).toEqual({ outcome: 'success', rttMs: 0, reason: '' })
    expect(seen).toEqual([body, type])
    const host = `127.0.0.1:${backend.port}`
    expect(backend.requests).toEqual([{ method, url: '/hook?a=1', host, sni: '' }])
  })

  test('goes to an IPv6 address', async () => {
    const backend = await use(startHttpBackend({ address: '::1' }))
    expect((await probe(`http://[::1]:${backend.port}/`)).outcome).toBe('success')
    expect(backend.requests[0]!.host).toBe(`[::1]:${backend.port}`)
  })

  test('carries no name and password of the address', async () => {
    const backend = await use(startHttpBackend())
    let authorization: unknown
    backend.answer((request, response) => {
      ;({ authorization } = request.headers)
      response.end()
    })
    await probe(`http://u:p@127.0.0.1:${backend.port}/`)
    expect([backend.requests.length, authorization]).toEqual([1, undefined])
  })
})

test.each([
  [200, 'success', ''],
  [299, 'success', ''],
  [301, 'failure', 'HTTP 301, expected 200-299'],
  [404, 'failure', 'HTTP 404, expected 200-299'],
  [503, 'failure', 'HTTP 503, expected 200-299'],
])('status %i', async (status, outcome, reason) => {
  const backend = await use(startHttpBackend())
  backend.answer((_request, response) => response.writeHead(status).end())
  const result = await probe(`http://127.0.0.1:${backend.port}/`)
  expect([result.outcome, result.reason]).toEqual([outcome, reason])
})

const internal = 'webhookURL leads to an internal address, which health.webhookAllowedHosts lacks'
describe('an address that is not allowed is not asked', () => {
  test.each([
    'http://127.0.0.2/',
    'http://0x7f.2/',
    'http://2130706434/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fd00::1]/',
    'https://100.64.0.1/',
    'http://0/',
  ])('%s', async (url) => {
    expect(await probe(url)).toEqual({ outcome: 'failure', rttMs: 0, reason: internal })
  })
})

test.each(['ftp://192.0.2.1/', 'nonsense', '', 'file:///etc/passwd'])(
  '%j is no webhook',
  async (url) => {
    const reason = 'webhookURL is no http:// or https:// address'
    expect(await probe(url)).toEqual({ outcome: 'failure', rttMs: 0, reason })
  },
)

describe('a server that answers badly', () => {
  test('streams without end: its status decides, and the rest is not read', async () => {
    let sentBytes = 0
    const backend = await use(
      startRawBackend((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n')
        const piece = Buffer.alloc(65_536)
        const flood = (): void => {
          if (socket.destroyed) return
          sentBytes += piece.length
          socket.write(piece, flood)
        }
        flood()
      }),
    )
    expect((await probe(`http://127.0.0.1:${backend.port}/`)).outcome).toBe('success')
    await expect.poll(() => backend.openCount()).toBe(0)
    expect(sentBytes).toBeLessThan(32 << 20)
  })

  test.each([
    ['garbage', 'not HTTP\r\n\r\n', 'the response is not HTTP'],
    [
      'headers of 100 kB',
      `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`,
      'the response headers are too long',
    ],
    [
      'interim responses without end',
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50),
      'too many interim responses',
    ],
  ])('%s', async (_name, bytes, reason) => {
    const backend = await use(startRawBackend((socket) => socket.write(bytes)))
    const result = await probe(`http://127.0.0.1:${backend.port}/`)
    expect([result.outcome, result.reason]).toEqual(['failure', reason])
    await expect.poll(() => backend.openCount()).toBe(0)
  })

  test.each(['http', 'https'])('hangs over %s', async (scheme) => {
    const backend = await use(startTcpBackend((socket) => socket.resume()))
    const url = `${scheme}://127.0.0.1:${backend.port}/`
    const result = await unlessStalled(() => probe(url, { timeoutMs: 150 }))
    expect([result.outcome, result.reason]).toEqual(['timeout', 'no result within 150 ms'])
    await expect.poll(() => backend.openCount()).toBe(0)
  })

  test('has a certificate that nobody vouches for', async () => {
    const backend = await use(startHttpBackend({ certificate: testCertificate('unknown') }))
    const result = await probe(`https://127.0.0.1:${backend.port}/`)
    expect([result.outcome, result.reason]).toEqual(['failure', 'the certificate is self-signed'])
    expect(backend.requests).toEqual([])
  })
})

test('a probe that is called off never reports, whatever it is waiting for', async () => {
  const backend = await use(startTcpBackend((socket) => socket.resume()))
  let reports = 0
  const count = (): void => void reports++
  const check = { type: 'webhook', timeoutMs: 40 } as const
  for (const webhookURL of ['http://localhost:1/', `http://127.0.0.1:${backend.port}/`]) {
    probes.webhook.run(probeTarget('m1', { ...check, webhookURL }), count)()
  }
  await probe(`http://127.0.0.1:${backend.port}/`, { timeoutMs: 100 })
  expect(reports).toBe(0)
})
