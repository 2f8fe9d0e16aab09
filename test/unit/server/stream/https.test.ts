// DNS over HTTPS at the listener: requests good and bad, sessions, limits, and floods of HTTP/2.
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'
import { connect as connectPlain } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { noRequests } from '#server/stream/https-request.ts'
import type { HttpsCounts } from '#server/stream/https-request.ts'
import { httpsAt } from '#server/stream/https-session.ts'
import { TcpServer } from '#server/stream/tcp.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import {
  fieldBlock,
  frame,
  HttpsReplies,
  HttpsRequests,
  opening,
} from '#bench/load/https-frames.ts'
import { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { proxyHeader } from '#test/support/proxy-writer.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { certificatesFrom, makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const servers: TcpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

interface World {
  readonly server: TcpServer
  readonly port: number
  readonly counts: HttpsCounts
}

const silence = { info: () => undefined, warn: () => undefined, error: () => undefined }

const noon = (): number => Date.UTC(2026, 10, 30, 8)

async function start(
  limits: Partial<TcpLimits> = {},
  gate?: ProxyGate,
  nowMs = noon,
): Promise<World> {
  const files = makeTlsFiles(tempDir('https'), 'ns.example')
  const certificate = certificatesFrom(files, silence)
  expect(certificate.load().ok).toBe(true)
  const counts = noRequests()
  const https = httpsAt('/dns-query', counts, nowMs)
  if (!https.ok) throw new Error(https.error)
  const server = new TcpServer({
    // Repeats the message, with who asks in the last octet of the id; 0 and 255 are a fault;
    // 2 asks for much.
    answer: (query, length, reply, _max, { address }) => {
      if (query[0] === 255) throw new Error('a fault of ours')
      reply.set(query.subarray(0, length))
      reply[1] = address[15]!
      return query[0] === 0 ? 0 : query[0] === 2 ? 60_000 : length
    },
    monotonicMs: () => performance.now(),
    limits: { closeTimeoutMs: 500, ...limits },
    gate,
    secure: certificate,
    https: https.value,
  })
  servers.push(server)
  const listening = await server.listen('127.0.0.1', 0)
  if (!listening.ok) throw new Error(listening.error)
  return { server, port: listening.value.port, counts }
}

function session(port: number, options: ConnectionOptions = {}): ClientHttp2Session {
  const client = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, ...options })
  client.on('error', () => undefined)
  onTestFinished(() => client.destroy())
  return client
}

interface Answer {
  readonly status: unknown
  readonly headers: Record<string, unknown>
  readonly body: Buffer
}

async function asked(
  client: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer,
): Promise<Answer> {
  const stream = client.request(headers, { endStream: body === undefined })
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = closed(stream)
  stream.on('error', () => undefined)
  const answered = once(stream, 'response')
  if (body !== undefined) stream.end(body)
  const [found] = (await answered) as [Record<string, unknown>]
  await ended
  return { status: found[':status'], headers: found, body: Buffer.concat(chunks) }
}

/** Whatever went wrong before. */
const closed = (one: NodeJS.EventEmitter): Promise<unknown> =>
  new Promise((resolve) => void one.once('close', resolve))

const message = Buffer.alloc(12, 1)
const get = (octets = message): OutgoingHttpHeaders => ({
  ':path': `/dns-query?dns=${octets.toString('base64url')}`,
})
const post = {
  ...{ ':method': 'POST', ':path': '/dns-query', 'content-type': 'application/dns-message' },
}

test('GET and POST on one connection, many at once, and a session again', async () => {
  const { server, port, counts } = await start()
  const client = session(port)
  let ticket: Buffer | undefined
  const socket = client.socket as TLSSocket
  socket.on('session', (found: Buffer) => (ticket = found))
  const all = await Promise.all(
    Array.from({ length: 250 }, (_, i) =>
      i % 2 === 0 ? asked(client, get()) : asked(client, post, message),
    ),
  )
  for (const { status, headers, body } of all) {
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      ...{ 'content-type': 'application/dns-message', 'cache-control': 'private, max-age=0' },
      ...{ 'content-length': '12', date: 'Mon, 30 Nov 2026 08:00:00 GMT' },
    })
    expect(body).toEqual(Buffer.from([1, 1, ...message.subarray(2)]))
  }
  expect(counts).toMatchObject({ answered: 250, floods: 0 })
  await waitUntil('a ticket', () => ticket)
  client.close()
  await asked(session(port, { session: ticket! }), get())
  expect(server.stats).toMatchObject({ handshakes: 2, resumed: 1, queries: 251, replies: 251 })
  await waitUntil('closed', () => server.stats.open <= 1)
})

test.each([
  ['badRequest', 400, get(Buffer.alloc(3)), undefined],
  ['badRequest', 400, post, Buffer.alloc(0)],
  ['badRequest', 400, get(Buffer.alloc(12)), undefined],
  ['notFound', 404, { ':path': '/' }, undefined],
  ['badMethod', 405, { ':path': '/dns-query', ':method': 'DELETE' }, undefined],
  ['tooLarge', 413, { ...post, 'content-length': 65_536 }, Buffer.alloc(65_536)],
  ['tooLarge', 413, post, Buffer.alloc(66_000)],
  ['badType', 415, { ...post, 'content-type': 'text/plain' }, message],
  ['failed', 500, get(Buffer.alloc(12, 255)), undefined],
] as const)('%s is %d', async (outcome, status, headers, body) => {
  const { port, counts } = await start()
  const client = session(port)
  const refused = await asked(client, headers, body)
  expect([refused.status, counts[outcome]]).toEqual([status, 1])
  expect(refused.body.length).toBeGreaterThan(10)
  if (status === 405) expect(refused.headers).toMatchObject({ allow: 'GET, POST' })
  expect(await asked(client, get())).toMatchObject({ status: 200 })
})

test.each(['end', 'destroy'] as const)(
  'the connection of a client that leaves without a word (%s) is closed at once',
  async (leave) => {
    const { server, port } = await start({ idleTimeoutMs: 60_000, writeTimeoutMs: 60_000 })
    const options = { ALPNProtocols: ['h2'], rejectUnauthorized: false }
    const socket = connectTls({ host: '127.0.0.1', port, ...options })
    socket.on('error', () => undefined)
    await once(socket, 'secureConnect')
    const requests = new HttpsRequests('GET', '/dns-query', message)
    socket.write(Buffer.concat([opening(), requests.next()]))
    socket.resume()
    await waitUntil('it is answered', () => server.stats.replies === 1)
    socket[leave]()
    await waitUntil('it is closed', () => server.stats.open === 0)
  },
)

test('requests of a client that has ended its half are answered', async () => {
  const { server, port } = await start()
  const options = { ALPNProtocols: ['h2'], rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connectTls({ host: '127.0.0.1', port, ...options })
  await once(socket, 'secureConnect')
  const replies = new HttpsReplies(() => undefined)
  socket.on('data', (chunk: Buffer) => replies.take(chunk))
  const requests = new HttpsRequests('GET', '/dns-query', message)
  const twice = [requests.next(), requests.next()]
  socket.end(Buffer.concat([opening(), ...twice]))
  await waitUntil('it is closed', () => server.stats.open === 0)
  expect([server.stats.replies, replies.ended]).toEqual([2, 2])
})

test('another protocol, none, garbage and silence end, and are counted', async () => {
  const { server, port, counts } = await start({ messageTimeoutMs: 100, idleTimeoutMs: 200 })
  const tls = (options: ConnectionOptions): TLSSocket => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    return socket
  }
  await closed(tls({ ALPNProtocols: ['http/1.1'] }))
  await closed(tls({}))
  const silent = connectPlain(port, '127.0.0.1')
  onTestFinished(() => void silent.destroy())
  await once(
    silent.on('error', () => undefined),
    'close',
  )
  for (const first of ['GET / HTTP/1.1\r\n\r\n', '']) {
    const socket = tls({ ALPNProtocols: ['h2'] })
    socket.on('secureConnect', () => socket.write(first))
    socket.resume()
    await closed(socket)
  }
  await waitUntil('all are gone', () => server.stats.open === 0)
  expect(server.stats).toMatchObject({ handshakesFailed: 2, queries: 0, idleTimeouts: 1 })
  expect(counts).toEqual(noRequests())
})

test('a body that does not end, and an answer that is not read, cost the connection', async () => {
  const { server, port } = await start({ messageTimeoutMs: 100 })
  const client = session(port)
  client
    .request(post)
    .on('error', () => undefined)
    .write('x')
  await closed(client)
  await waitUntil('closed', () => server.stats.open === 0)
  expect(server.stats.messageTimeouts).toBe(1)
})

test('unfinished bodies of one connection have a bound together', async () => {
  const { port, counts } = await start()
  const client = session(port)
  const streams = Array.from({ length: 20 }, () => {
    const stream = client.request(post)
    stream.on('error', () => undefined).resume()
    stream.write(Buffer.alloc(16_000))
    return stream
  })
  await waitUntil('some refused', () => counts.tooLarge > 0)
  for (const stream of streams) stream.close()
  expect(await asked(client, get())).toMatchObject({ status: 200 })
})

test('unread replies of a client have a bound, and the rest comes after', async () => {
  const { server, port, counts } = await start()
  const client = session(port, { settings: { initialWindowSize: 0 } } as ConnectionOptions)
  const large = get(Buffer.alloc(12, 2))
  const all = [...Array(20).keys()].map((i) =>
    i % 2 === 0 ? asked(client, large) : asked(client, { ...large, ...post }, Buffer.alloc(12, 2)),
  )
  await waitUntil('answers', () => counts.answered > 0)
  await new Promise((resolve) => client.ping(resolve))
  expect(counts.answered).toBe(2)
  client.settings({ initialWindowSize: 65_535 })
  const lengths = (await Promise.all(all)).map(({ body }) => body.length)
  expect(new Set(lengths)).toEqual(new Set([60_000]))
  expect([counts.answered, server.stats.open]).toEqual([20, 1])
})

test('a header that is too large is refused before it is read', async () => {
  const { port, counts } = await start()
  const client = session(port)
  const stream = client.request({ ':path': `/dns-query?dns=${'A'.repeat(20_000)}` })
  stream.on('error', () => undefined).resume()
  await closed(stream)
  expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  expect(counts).toEqual(noRequests())
})

test('a flood of pings ends its connection, and not the others', async () => {
  const { server, port, counts } = await start()
  const other = session(port)
  await asked(other, get())
  const client = session(port, { maxOutstandingPings: 200 } as ConnectionOptions)
  await once(client, 'connect')
  for (let i = 0; i < 200; i++) client.ping(() => undefined)
  await closed(client)
  expect(counts.floods).toBe(1)
  expect(await asked(other, get())).toMatchObject({ status: 200 })
  await waitUntil('closed', () => server.stats.open === 1)
})

const magic = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const preface = Buffer.concat([magic, frame(4, 0, 0, Buffer.alloc(0))])
/** `:method` GET, `:scheme` https, `:path` / by the static table of RFC 7541. */
const headers = Buffer.from([0x82, 0x87, 0x84])
const reset = Buffer.from([0, 0, 0, 8])

test.each([
  [
    'streams that are reset at once',
    (n: number) => [frame(1, 5, n, headers), frame(3, 0, n, reset)],
  ],
  ['settings', () => [frame(4, 0, 0, Buffer.alloc(0))]],
  ['priorities', (n: number) => [frame(2, 0, n, Buffer.alloc(5))]],
  ['windows', () => [frame(8, 0, 0, Buffer.from([0, 0, 0, 1]))]],
  ['a header without an end', (n: number) => [frame(n === 1 ? 1 : 9, 0, 1, Buffer.alloc(0))]],
  ['garbage', () => [Buffer.from('no frame at all')]],
] as const)('a flood of %s ends its connection', async (_name, frames) => {
  const { server, port } = await start({ idleTimeoutMs: 60_000 })
  const socket = connectTls({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] },
  })
  socket.on('error', () => undefined).resume()
  onTestFinished(() => void socket.destroy())
  const gone = closed(socket)
  await once(socket, 'secureConnect')
  socket.write(preface)
  let n = 1
  const flood = setInterval(() => {
    const some = Array.from({ length: 2_000 }, () => frames((n += 2) - 2))
    if (!socket.destroyed) socket.write(Buffer.concat(some.flat()))
  }, 5)
  onTestFinished(() => clearInterval(flood))
  await gone
  await waitUntil('closed', () => server.stats.open === 0)
  expect(await asked(session(port), get())).toMatchObject({ status: 200 })
})

/** A client that speaks in frames. */
async function framed(port: number): Promise<{ socket: TLSSocket; replies: HttpsReplies }> {
  const socket = connectTls({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['h2'] },
  })
  const replies = new HttpsReplies(() => undefined)
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => replies.take(chunk))
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return { socket, replies }
}

function asks(stream: number, octets = message): Buffer {
  const path = `/dns-query?dns=${octets.toString('base64url')}`
  return frame(1, 5, stream, fieldBlock([...about('GET'), [':path', path]]))
}

/** A request whose body, if there is one, follows. */
const begins = (stream: number, method: string): Buffer =>
  frame(1, 4, stream, fieldBlock([...about(method), [':path', '/dns-query'], ...typed]))
const typed = [['content-type', 'application/dns-message']] as const
const about = (method: string) =>
  [
    ...[[':method', method] as const, [':scheme', 'https'] as const],
    [':authority', 'ns.example'] as const,
  ] as const

test('a client that does not read is cut, also where no request is open', async () => {
  const { server, port, counts } = await start({ writeTimeoutMs: 100, idleTimeoutMs: 60_000 })
  const { socket } = await framed(port)
  socket.pause().write(opening())
  for (let i = 0; server.stats.open === 1; i++) {
    socket.write(asks(2 * i + 1, Buffer.alloc(12, 2)))
    await waitUntil('a reply, or the end', () => counts.answered > i || server.stats.open === 0)
  }
  expect(server.stats).toMatchObject({ writeTimeouts: 1, idleTimeouts: 0 })
})

test('a request that waited is answered when the streams before it are reset', async () => {
  const { port, counts } = await start()
  const { socket, replies } = await framed(port)
  const noWindow = frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))
  const large = Buffer.alloc(12, 2)
  socket.write(Buffer.concat([magic, noWindow, asks(1, large), asks(3, large), asks(5)]))
  socket.write(frame(8, 0, 5, Buffer.from([0, 0, 99, 0])))
  await waitUntil('two are answered', () => counts.answered === 2)
  socket.write(Buffer.concat([frame(3, 0, 1, reset), frame(3, 0, 3, reset)]))
  await waitUntil('the reply', () => replies.ended === 1)
  expect(counts.answered).toBe(3)
})

test('requests beyond those that may be open are refused, and a flood of them ends', async () => {
  const { port, counts } = await start()
  const flight = (count: number): Buffer =>
    Buffer.concat([preface, ...Array.from({ length: count }, (_, i) => asks(2 * i + 1))])
  const { socket, replies } = await framed(port)
  // All of it is one record of TLS.
  expect(flight(130).length).toBeLessThan(16_384)
  socket.write(flight(130))
  await waitUntil('the replies', () => replies.ended === 100)
  socket.write(asks(999))
  await waitUntil('one more', () => replies.good === 101)
  expect(counts).toEqual({ ...noRequests(), answered: 101 })
  const { socket: flood } = await framed(port)
  const gone = closed(flood)
  flood.write(flight(1_000))
  await gone
  expect(counts.floods).toBe(1)
})

test.each(['HEAD', 'PUT'])('a %s that does not end leaves its connection', async (method) => {
  const { server, port, counts } = await start({ writeTimeoutMs: 100, messageTimeoutMs: 100 })
  const { socket, replies } = await framed(port)
  socket.write(Buffer.concat([preface, begins(1, method)]))
  await waitUntil('the reply', () => replies.ended === 1)
  // The time of a request that has begun later is over: that of the first would be, too.
  const { socket: later } = await framed(port)
  later.write(Buffer.concat([preface, begins(1, 'POST')]))
  await closed(later)
  socket.write(asks(3))
  await waitUntil('the next reply', () => replies.ended === 2)
  expect([counts.badMethod, counts.answered, server.stats.writeTimeouts]).toEqual([1, 1, 0])
})

test('a message that comes octet by octet is answered', async () => {
  const { port, counts } = await start()
  const { socket, replies } = await framed(port)
  const pieces = [...message].map((octet, i) => frame(0, i === 11 ? 1 : 0, 1, Buffer.of(octet)))
  socket.write(Buffer.concat([preface, begins(1, 'POST'), ...pieces]))
  await waitUntil('the reply', () => replies.ended === 1)
  expect(counts).toEqual({ ...noRequests(), answered: 1 })
})

test('nothing is heard of a connection that has ended', async () => {
  const { server, port, counts } = await start()
  const options = { ALPNProtocols: ['h2'], rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connectTls({ host: '127.0.0.1', port, ...options })
  socket.on('error', () => undefined).resume()
  await once(socket, 'secureConnect')
  const ended = once(socket, 'end')
  socket.write(Buffer.concat([preface, frame(7, 0, 0, Buffer.alloc(8))]))
  await ended
  socket.end(asks(1))
  await waitUntil('it is closed', () => server.stats.open === 0)
  expect(counts).toEqual(noRequests())
})

test('a fault of ours costs its connection, and not the others', async () => {
  let isBroken = false
  const { server, port } = await start({}, undefined, () => {
    if (isBroken) throw new Error('a fault of ours')
    return noon()
  })
  const other = session(port)
  await asked(other, get())
  const { socket } = await framed(port)
  const gone = closed(socket)
  isBroken = true
  socket.write(Buffer.concat([preface, asks(1)]))
  await gone
  isBroken = false
  expect(server.stats.failures).toBe(1)
  expect(await asked(other, get())).toMatchObject({ status: 200 })
})

test('a PROXY header comes before the handshake', async () => {
  const proxies = [{ octets: Uint8Array.of(127, 0, 0, 0), prefixBits: 8 }]
  const { port } = await start({}, new ProxyGate(proxies, { proxyHeader: () => undefined }))
  const plain = connectPlain(port, '127.0.0.1')
  plain.write(proxyHeader('192.0.2.77', 1))
  const socket = connectTls({ socket: plain, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  const client = connect('https://127.0.0.1', { createConnection: () => socket })
  onTestFinished(() => client.destroy())
  expect((await asked(client, get())).body[1]).toBe(77)
})

test('idle connections are closed and told, and busy ones are answered at a stop', async () => {
  const { server, port } = await start({ idleTimeoutMs: 100 })
  const client = session(port)
  await asked(client, get())
  let goaway: unknown
  client.on('goaway', (code: unknown) => (goaway = code))
  await closed(client)
  expect([goaway, server.stats.idleTimeouts]).toEqual([0, 1])
  const busy = session(port)
  await once(busy, 'connect')
  const stream = busy.request(post)
  stream.write(message.subarray(0, 6))
  await waitUntil('open', () => server.stats.open === 1)
  const answered = once(stream, 'response')
  await asked(busy, get())
  const stopped = server.close()
  stream.end(message.subarray(6))
  expect((await answered)[0]).toMatchObject({ ':status': 200 })
  stream.resume()
  await stopped
  expect(server.stats.open).toBe(0)
})

test('connections over the limit of a client are refused', async () => {
  const { server, port } = await start({ connectionsPerClientMax: 1 })
  const first = session(port)
  const stream = first.request(post)
  await waitUntil('busy', () => server.stats.handshakes === 1)
  stream.write('x')
  await closed(session(port))
  expect(server.stats).toMatchObject({ open: 1, refused: 1 })
})
