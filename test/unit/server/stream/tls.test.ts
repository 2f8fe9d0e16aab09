// DNS over TLS at the listener: handshakes, good and bad, sessions, limits, and certificates that
// are replaced while it serves.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import type { Socket } from 'node:net'
import { connect } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { TcpServer } from '#server/stream/tcp.ts'
import { ReplyBatchPool } from '#server/stream/tcp-framing.ts'
import type { ReplyBatch } from '#server/stream/tcp-framing.ts'
import type { TcpLimits } from '#server/stream/tcp-limits.ts'
import type { TlsCertificates } from '#server/tls/certificates.ts'
import type { pairsIn } from '#server/tls/sources.ts'
import { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { framed } from '#test/support/dns/client.ts'
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
  readonly directory: string
  readonly certificate: TlsCertificates
  /** Messages of the log, with their levels. */
  readonly said: string[]
  readonly at: { nowMs: number }
}

async function start(
  limits: Partial<TcpLimits> = {},
  gate?: ProxyGate,
  batches = new ReplyBatchPool(),
  certificates: Parameters<typeof pairsIn>[1]['certificates'] = {},
): Promise<World> {
  const directory = tempDir('tls')
  const said: string[] = []
  const level = (name: string) => (_fields: object, message: string) => {
    said.push(`${name}: ${message}`)
  }
  const log = { info: level('info'), warn: level('warn'), error: level('error') }
  const at = { nowMs: Date.now() }
  const files = makeTlsFiles(directory, 'one.example')
  const certificate = certificatesFrom({ ...files, certificates }, log, () => at.nowMs)
  expect(certificate.load().ok).toBe(true)
  const server = new TcpServer({
    // Says who asks by the last octet of the address. Nothing is said to an id that begins with 0.
    answer: (query, length, reply, _max, { address }) => {
      reply.set(query.subarray(0, length))
      reply[2] = address[15]!
      return query[0] === 0 ? 0 : length
    },
    monotonicMs: () => performance.now(),
    limits: { closeTimeoutMs: 500, ...limits },
    gate,
    batches,
    secure: certificate,
  })
  servers.push(server)
  const listening = await server.listen('127.0.0.1', 0)
  if (!listening.ok) throw new Error(listening.error)
  return { server, port: listening.value.port, directory, certificate, said, at }
}

/** What each connection was last given to resume it. */
const sessions = new WeakMap<TLSSocket, Buffer>()

async function secured(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', rejectUnauthorized: false, ...options })
  socket.on('error', () => undefined)
  socket.on('session', (session: Buffer) => void sessions.set(socket, session))
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

async function asked(socket: TLSSocket): Promise<Buffer> {
  socket.write(framed(Buffer.alloc(12, 1)))
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return chunk
}

function plain(port: number): Socket {
  const socket = connectPlain(port, '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

const subject = (socket: TLSSocket): unknown => socket.getPeerCertificate().subject.CN

test.each([
  ['TLSv1.2', undefined, 'one.example'],
  ['TLSv1.2', 'two.example', 'two.example'],
  ['TLSv1.3', undefined, 'one.example'],
  ['TLSv1.3', 'two.example', 'two.example'],
  ['TLSv1.3', 'none.example', 'one.example'],
] as const)('%s: many queries to %s, and a session again', async (version, servername, shown) => {
  const { certFile: cert, keyFile: key } = makeTlsFiles(tempDir('tls'), 'two.example')
  const { server, port } = await start({}, undefined, undefined, { two: { cert, key } })
  let session: Buffer | undefined
  for (const isAgain of [false, true]) {
    const socket = await secured({
      ...{ port, minVersion: version, maxVersion: version, ALPNProtocols: ['dot'] },
      ...{ ...(servername && { servername }), ...(session && { session }) },
    })
    if (!isAgain) expect(subject(socket)).toBe(shown)
    for (let i = 0; i < 3; i++) expect(await asked(socket)).toHaveLength(14)
    expect([socket.alpnProtocol, socket.isSessionReused()]).toEqual(['dot', isAgain])
    session = sessions.get(socket)
    socket.end()
    await once(socket, 'close')
  }
  expect(server.stats).toMatchObject({
    handshakes: 2,
    resumed: 1,
    handshakesFailed: 0,
    queries: 6,
  })
  await waitUntil('closed', () => server.stats.open === 0)
})

test('no handshake, half of one, or one for another protocol ends, and is counted', async () => {
  const { server, port } = await start({ messageTimeoutMs: 100 })
  const garbage = plain(port)
  garbage.write('GET / HTTP/1.1\r\n\r\n')
  await once(garbage, 'close')
  const half = plain(port)
  // The head of a record of 512 octets, and nothing of it.
  half.write(Buffer.from([0x16, 3, 1, 2, 0, 1]))
  const silent = plain(port)
  await Promise.all([once(half, 'close'), once(silent, 'close')])
  const old = secured({
    port,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  await expect(old).rejects.toThrow()
  await expect(secured({ port, ALPNProtocols: ['h2'] })).rejects.toThrow(/alert|protocol/)
  await waitUntil('all are gone', () => server.stats.open === 0)
  expect(server.stats).toMatchObject({ handshakes: 0, handshakesFailed: 5, messageTimeouts: 2 })
})

test('connections in a handshake count for their client', async () => {
  const { server, port } = await start({ connectionsPerClientMax: 2 })
  const [first, second] = [plain(port), plain(port)]
  await waitUntil('two', () => server.stats.open === 2)
  await once(plain(port), 'close')
  expect(server.stats).toMatchObject({ open: 2, refused: 1 })
  first.destroy()
  second.destroy()
})

test('a PROXY header comes before the handshake', async () => {
  const proxies = [{ octets: Uint8Array.of(127, 0, 0, 0), prefixBits: 8 }]
  const { server, port } = await start({}, new ProxyGate(proxies, { proxyHeader: () => undefined }))
  for (const cuts of [false, true]) {
    const socket = plain(port)
    const header = proxyHeader('192.0.2.77', 1)
    for (const octet of cuts ? header : []) socket.write(Buffer.from([octet]))
    if (!cuts) socket.write(header)
    expect((await asked(await secured({ socket })))[4]).toBe(77)
    socket.destroy()
  }
  const without = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await expect(once(without, 'secureConnect')).rejects.toThrow()
  await waitUntil('all are gone', () => server.stats.open === 0)
})

test('a certificate that is replaced is taken over, and one that is broken is not', async () => {
  const { port, directory, certificate, said, at } = await start()
  const before = await secured({ port })
  expect(subject(before)).toBe('one.example')
  const { certFile, keyFile } = makeTlsFiles(directory, 'two.example')
  at.nowMs = Date.now()
  certificate.look()
  expect(subject(await secured({ port }))).toBe('two.example')
  expect(await asked(before)).toHaveLength(14)
  expect(said).toEqual(['info: the certificate of dns.tls was taken over'])
  for (const [file, text] of [
    [certFile, 'no certificate'],
    [certFile, 'x'.repeat(300_000)],
    [keyFile, ''],
  ] as const) {
    writeFileSync(file, text)
    certificate.look()
    certificate.look()
    expect(subject(await secured({ port }))).toBe('two.example')
    expect(certificate.status[0]!.fault).not.toBe(null)
  }
  expect(said.slice(1)).toContain(
    'error: the certificate of dns.tls cannot be used; the one before serves',
  )
  makeTlsFiles(directory, 'three.example')
  at.nowMs = Date.now()
  certificate.look()
  expect(subject(await secured({ port }))).toBe('three.example')
  expect(certificate.status[0]!.fault).toBe(null)
})

test('a certificate whose end is near, or past, is told of once, and serves', async () => {
  const { port, certificate, said, at } = await start()
  const dayMs = 86_400_000
  expect(certificate.status[0]!.isEnding).toBe(false)
  for (const days of [77, 78, 91, 92]) {
    at.nowMs = Date.now() + days * dayMs
    certificate.look()
  }
  expect(said).toEqual([
    'warn: the certificate of dns.tls expires soon',
    'error: the certificate of dns.tls has expired',
  ])
  expect(certificate.status[0]!.isEnding).toBe(true)
  expect(await asked(await secured({ port }))).toHaveLength(14)
})

test('a start without files says what is missing', () => {
  const files = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' }
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  expect(certificatesFrom(files, log).load()).toEqual({
    ok: false,
    error: 'dns.tls: /nowhere/cert.pem with /nowhere/key.pem cannot be used: ENOENT',
  })
})

test('a client that begins its handshake again and again is cut off', async () => {
  const { server, port } = await start()
  const socket = await secured({ port, maxVersion: 'TLSv1.2' })
  const closed = once(socket, 'close')
  const again = (): void => {
    if (!socket.destroyed) socket.renegotiate({ rejectUnauthorized: false }, () => again())
  }
  again()
  await closed
  await waitUntil('closed', () => server.stats.open === 0)
})

test('a close does not wait for half a handshake', async () => {
  const { server, port } = await start({ messageTimeoutMs: 60_000, closeTimeoutMs: 60_000 })
  plain(port).write(Buffer.from([22, 3, 1]))
  await waitUntil('the connection', () => server.stats.open === 1)
  await server.close()
  expect(server.stats).toMatchObject({ open: 0, handshakesFailed: 1 })
})

test('files that cannot be used from the start are a fault', () => {
  const said: string[] = []
  const log = {
    info: () => {},
    warn: () => {},
    error: (_: object, text: string) => said.push(text),
  }
  const directory = tempDir('tls')
  const files = { certFile: `${directory}/none.pem`, keyFile: `${directory}/none.key` }
  const certificate = certificatesFrom(files, log, () => 0)
  expect(certificate.load().ok).toBe(false)
  const status = { name: 'dns.tls', fault: 'ENOENT', expiresAtMs: 0, isEnding: false }
  expect(certificate.status).toEqual([status])
  certificate.look()
  expect(said).toEqual([])
})

/** Remembers which batches were taken. */
class SeenBatches extends ReplyBatchPool {
  readonly taken: ReplyBatch[] = []

  override take(): ReplyBatch {
    const batch = super.take()
    this.taken.push(batch)
    return batch
  }
}

test('replies that are on their way share one batch of 64 KiB', async () => {
  const batches = new SeenBatches()
  const { port } = await start({}, undefined, batches)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => secured({ port })))
  for (let i = 0; i < 3; i++) {
    const replies = await Promise.all(sockets.map(asked))
    expect(replies.map(({ length }) => length)).toEqual(sockets.map(() => 14))
  }
  expect([batches.taken.length, new Set(batches.taken).size]).toEqual([60, 1])
})

test('replies come in the order of their queries, small and large, in many records', async () => {
  const { port } = await start()
  const socket = await secured({ port })
  const queries = Array.from({ length: 300 }, (_, i) =>
    Buffer.alloc(i % 40 === 7 ? 30_000 : 12 + (i % 50), 1 + (i % 200)),
  )
  for (let i = 0; i < queries.length; i += 1 + (i % 3)) {
    socket.write(framed(...queries.slice(i, i + 1 + (i % 3))))
    if (i % 5 === 0) await new Promise(setImmediate)
  }
  const expected = framed(
    ...queries.map((query) => Buffer.from(query.map((octet, i) => (i === 2 ? 1 : octet)))),
  )
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await waitUntil('all', () => Buffer.concat(chunks).length >= expected.length)
  expect(Buffer.concat(chunks).equals(expected)).toBe(true)
})

test.each([
  ['its client ends', [1, 2], true],
  ['a message gets no reply', [1, 2, 0], false],
])('answers go out before the end where %s', async (_when, ids, isEnded) => {
  const { server, port } = await start()
  const socket = await secured({ port, allowHalfOpen: true } as ConnectionOptions)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const queries = framed(...ids.map((id) => Buffer.alloc(12, id)))
  if (isEnded) socket.end(queries)
  else socket.write(queries)
  await once(socket, 'end')
  expect(Buffer.concat(chunks)).toHaveLength(28)
  expect(server.stats.replies).toBe(2)
})
