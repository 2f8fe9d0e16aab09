// Requests as bytes on a socket: what no client library would send.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { paramNames } from '#api/route/route.ts'
import { routes } from '#api/routes.ts'
import { keyOf } from '#test/support/config-world.ts'
import {
  authorizations,
  damaged,
  forgedBearers,
  hostileHeaders,
  hostilePath,
} from '#test/support/hostile-requests.ts'
import type { Header } from '#test/support/hostile-requests.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom } from '#test/support/random.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

/** Connections. */
const count = Math.ceil(countFrom('GSLB_REQUEST_COUNT', laneCount(50_000)) / 10)

let whole: WholeWorld
let app: ReturnType<typeof createApp>
/** The first is good. */
let bearers: readonly string[]
let port = 0
const secretWords = /zenith|top-?secret/i
const traces = /\bat .*\.ts:\d+|node_modules|Error: /

beforeAll(async () => {
  whole = await startWholeWorld()
  await whole.world.call(keyOf('zenith'), 'POST', '/pools', { name: 'topsecret' })
  bearers = [keyOf('acme'), ...(await forgedBearers(whole)).values()]
  // Headers of proxies are believed, so that they are read.
  app = createApp(whole.world.ports, ['127.0.0.1'])
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
})
afterAll(async () => {
  await app.close()
  await whole.stop()
})

const known = routes.map(({ path }) =>
  paramNames(path).reduce((filled, name) => filled.replace(`{${name}}`, 'x'), path),
)
const raw = ['/\0', '/\x7f\x80', '/api/v1/pools/\xff', '*', 'http://evil.example/api/v1/pools', '']
/** What is wrong everywhere gets no further than the parser. */
const mostly = <T>(good: T, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(good), weight: 6 }, { arbitrary, weight: 1 })
const methods = [
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
  'G\0T',
  '',
  'A'.repeat(50),
]
const method = fc.oneof(
  { arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'), weight: 8 },
  fc.constantFrom(...methods),
)
const target = fc.oneof(
  { arbitrary: fc.constantFrom(...known), weight: 8 },
  { arbitrary: hostilePath, weight: 4 },
  fc.constantFrom(...raw),
)
const version = mostly(
  'HTTP/1.1',
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'http/1.1', ''),
)
const body = fc.oneof(
  damaged('{"name":"web","ipAddress":"192.0.2.1","port":80}'),
  fc.constant(Buffer.from('{"name":"web"}')),
  fc.nat(60_000).map((depth) => Buffer.from('['.repeat(depth))),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
)

/** How the length of the body is told, truly or not. */
const framings: readonly ((bytes: number) => readonly string[])[] = [
  (bytes) => [`Content-Length: ${bytes}`],
  () => [],
  (bytes) => [`Content-Length: ${bytes + 7}`],
  (bytes) => [`Content-Length: ${Math.max(0, bytes - 5)}`],
  () => ['Content-Length: -1'],
  () => ['Content-Length: 99999999999999999999'],
  (bytes) => [`Content-Length: ${bytes}`, 'Content-Length: 3'],
  (bytes) => [`Content-Length: ${bytes}`, 'Transfer-Encoding: chunked'],
  () => ['Transfer-Encoding: chunked'],
  () => ['Transfer-Encoding: gzip, chunked'],
  () => ['Transfer-Encoding : chunked'],
]

const lines = ['Connection: upgrade\r\nUpgrade: websocket\r\n', ': x\r\n', ' folded\r\n']

const request = fc.record({
  method,
  target,
  version,
  headers: mostly<readonly Header[]>([], hostileHeaders),
  bearer: fc.oneof(fc.constant(0), fc.nat(100)),
  authorization: mostly<number | null>(null, fc.nat(authorizations.length - 1)),
  isCookie: fc.boolean(),
  framing: mostly(framings[0]!, fc.constantFrom(...framings)),
  more: mostly('', fc.constantFrom(...lines)),
  body,
  lineEnd: mostly('\r\n', fc.constantFrom('\n', '\r')),
})

type Parts = typeof request extends fc.Arbitrary<infer T> ? T : never

function bytesOf(parts: Parts): Buffer {
  const token = bearers[parts.bearer % bearers.length]!
  const form = parts.authorization === null ? undefined : authorizations[parts.authorization]
  const credential = parts.isCookie
    ? `Cookie: gslb_session=${token}; gslb_session=${token}`
    : `Authorization: ${form === undefined ? `Bearer ${token}` : form(token)}`
  const head = [
    `${parts.method} ${parts.target} ${parts.version}`,
    `Host: 127.0.0.1:${port}`,
    credential,
    'Content-Type: application/json',
    'Connection: close',
    ...parts.headers.map(([name, value]) => `${name}: ${value}`),
    ...parts.framing(parts.body.length),
  ]
  const { lineEnd } = parts
  const text = head.map((line) => line + lineEnd).join('') + parts.more + lineEnd
  return Buffer.concat([Buffer.from(text, 'latin1'), parts.body])
}

/** A server that waits for more hears that there is none: by then it has answered what it had. */
const patienceMs = 50

/** Sends all, and reads until the other side ends. */
async function exchange(bytes: Uint8Array): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.setTimeout(patienceMs, () => socket.end())
  // A reset ends it like a close.
  socket.on('error', () => undefined)
  socket.on('end', () => socket.end())
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

const statuses = [
  200, 201, 204, 302, 304, 400, 401, 403, 404, 405, 408, 409, 411, 412, 413, 414, 415, 417, 426,
  429, 431, 503,
]

/** Connections at the same time. */
const atOnce = 8

const title = 'no bytes make a 500, a stack trace, or show another tenant'
test(title, { timeout: 240_000 + count * 200 }, async () => {
  const seen = new Map<number, number>()
  const judge = async (parts: Parts): Promise<void> => {
    const answer = await exchange(bytesOf(parts))
    for (const [, text] of answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) {
      const status = Number(text)
      seen.set(status, (seen.get(status) ?? 0) + 1)
      expect(statuses, answer).toContain(status)
    }
    expect(answer).not.toMatch(traces)
    expect(answer).not.toMatch(/^location: (?!\/[^/\\])/im)
    expect(answer).not.toMatch(secretWords)
  }
  const requests = fc.array(request, { minLength: atOnce, maxLength: atOnce })
  const property = fc.asyncProperty(requests, async (all) => {
    await Promise.all(all.map(judge))
  })
  await fc.assert(property, { numRuns: Math.ceil(count / atOnce) })
  for (const status of [200, 400, 401, 403, 404, 405]) {
    expect(seen.get(status) ?? 0, `answers with ${status}`).toBeGreaterThan(0)
  }
  const head = 'GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close'
  expect(await exchange(Buffer.from(`${head}\r\n\r\n`))).toMatch(/^HTTP\/1\.1 200 /)
})
