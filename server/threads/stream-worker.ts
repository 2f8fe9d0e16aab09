// The stream thread: DNS over TCP and TLS, and UDP by node:dgram on systems without batch system
// calls.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { createMachineClock, systemClock } from '#lib/clock.ts'
import { answer, handedOver } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { loadLibc } from '#system/sockets/libc.ts'
import { packetSources } from '#system/sockets/packet-sources.ts'
import { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { QueryBucket } from '#answer/counters/query-bucket.ts'
import { Adoption } from './adoption.ts'
import { HandOverGate } from './hand-over.ts'
import { SecureListeners } from './secure-listeners.ts'
import { StreamExchange } from './stream-exchange.ts'
import { Control, controlCell } from './responder-control.ts'
import type { FromStream, StreamStart, TlsStart, ToStream } from './stream-messages.ts'
import { RateLimiter } from '#answer/rate-limit/limiter.ts'
import { createTap } from '#answer/query-log/query-tap.ts'
import { ScriptClient } from '#answer/script/client.ts'
import { noRequests } from '#server/stream/https-request.ts'
import type { HttpsCounts } from '#server/stream/https-request.ts'
import { TcpServer } from '#server/stream/tcp.ts'
import type { AnswerStream, BeginHttps } from '#server/stream/tcp-connection.ts'
import { TlsCertificates } from '#server/tls/certificates.ts'
import { sourcesOf } from '#server/tls/sources.ts'
import { logThrough } from '#system/worker/worker-log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Carrier, Transaction, Transport } from '#answer/transaction.ts'
import type { Generation } from '#answer/serving-view.ts'
import type { GivenPairs } from '#server/tls/sources.ts'
import { listenDgram } from '#server/stream/udp-dgram.ts'

/** Interval of reports of counts to the main thread. */
const reportMs = 1000
/** Pause between groups of rehearsals of a swap; a rehearsal takes less than a millisecond. */
const rehearsalMs = 100
const rehearsals = 10

const start = workerData as StreamStart
const main = parentPort
assert(main !== null, 'the stream thread is a worker')
const post = (message: FromStream): void => main.postMessage(message)
const log = logThrough(post)
const control = new Int32Array(start.control)
const counters = new Counters(start.counters)
const { monotonicMs } = systemClock
const tcpTx = new Transaction(start.settings, start.seed, counters, monotonicMs)
tcpTx.transport = Transport.Tcp
tcpTx.sourceBytes = 16
const udpTx = new Transaction(start.settings, start.seed + 1, counters, monotonicMs)
const bucket = new QueryBucket(start.queryBucket)
const scripts = new ScriptClient(start.scriptMailbox, tcpTx.counters)
const tap = createTap(start.queryLog, start.seed)
const gate = start.proxies.length === 0 ? undefined : new ProxyGate(start.proxies, counters)
const keepalive = tcpTx.tcpKeepalive
const libc = loadLibc()
if (typeof libc !== 'string') {
  Atomics.store(control, controlCell(start.index, Control.ThreadId), libc.gettid())
}

udpTx.handsOver = true
if (start.rateLimit !== undefined) {
  const { rateLimit, index, seed } = start
  udpTx.limiter = new RateLimiter(rateLimit, index, seed, counters, createMachineClock())
}
const exchange = new StreamExchange({
  tx: new Transaction(start.settings, start.seed + 2, counters, monotonicMs),
  bucket,
  gate: new HandOverGate(start.handOver),
  sender:
    start.source === undefined || typeof libc === 'string'
      ? undefined
      : packetSources[start.source].sender(libc),
  ...{ transfers: start.transfers, keytab: start.keytab },
  ...{ clock: systemClock, log },
  askToUpdate: (id, message, signer) => post({ kind: 'update', id, message, signer }),
  askToNotice: (id, message, client) => post({ kind: 'notice', id, message, client }),
})

const adoption = new Adoption({
  ...{ index: start.index, control, scripts },
  adopt: (view) => {
    exchange.adopt(view)
    tcpTx.adopt(view)
    if (start.source === undefined) udpTx.adopt(view)
    tap.adopt(view)
  },
})

const server = new TcpServer({
  ...{ monotonicMs, limits: start.tcpLimits, gate },
  answer: (...parts) => answerStream(Carrier.Plain, ...parts),
})
/** Certificates that are in no file. */
let given: GivenPairs = {}
const secure = start.tls && (await createSecure(start.tls))

async function createSecure(tls: TlsStart): Promise<SecureListeners> {
  given = tls.given
  const sources = sourcesOf(tls.pairs, () => given)
  const certificates = new TlsCertificates(sources, log, systemClock.nowMs)
  const shared = { monotonicMs, limits: start.tcpLimits, gate, secure: certificates }
  const overTls = new TcpServer({
    ...{ ...shared, portKey: 'dns.tls.port' },
    answer: (...parts) => answerStream(Carrier.Tls, ...parts),
  })
  const requests = noRequests()
  // Loaded only when enabled.
  const begin = tls.places.https && (await beginHttps(tls.path, requests))
  const https = begin?.ok
    ? new TcpServer({
        ...{ ...shared, portKey: 'dns.https.port', https: begin.value },
        answer: (...parts) => answerStream(Carrier.Https, ...parts),
      })
    : undefined
  return new SecureListeners({
    ...{ tls, listenAddr: start.listenAddr, certificates, log, requests },
    servers: { tls: overTls, https },
    fault: begin?.ok === false ? begin.error : undefined,
    onListening: (listening) => post({ kind: 'secure', listening }),
  })
}

async function beginHttps(
  path: string,
  requests: HttpsCounts,
): Promise<Result<BeginHttps, string>> {
  const { httpsAt } = await import('#server/stream/https-session.ts')
  return httpsAt(path, requests, systemClock.nowMs)
}

function answerStream(
  carrier: Carrier,
  ...[query, queryLength, reply, replyMax, client]: Parameters<AnswerStream>
): ReturnType<AnswerStream> {
  // RFC 7828 section 3.3.2: a closing server asks clients to leave.
  tcpTx.tcpKeepalive = server.isClosing ? 0 : keepalive
  tcpTx.carrier = carrier
  // A reply over HTTP is a single whole message: no transfer, signature or update.
  tcpTx.handsOver = carrier !== Carrier.Https
  tcpTx.source = client.address
  tcpTx.tokens = bucket.take(1)
  const isTapped = tap.first(1) === 0
  if (isTapped) tap.asked(tcpTx, query, 0, queryLength, client.port)
  const length = answer(tcpTx, query, 0, queryLength, reply, 0, replyMax)
  if (isTapped) tap.answered(tcpTx, reply, 0, length)
  const written =
    length === handedOver ? exchange.handle(tcpTx, query.slice(0, queryLength), reply) : length
  bucket.giveBack(tcpTx.tokens)
  return written
}

main.on('message', (message: ToStream) => {
  if (message.kind === 'generation') takeOver(message.generation)
  else if (message.kind === 'handed') exchange.handleHanded(message.message, message.from)
  else if (message.kind === 'keys') exchange.takeKeys(message.keys)
  else if (message.kind === 'certificate') takeCertificates(message.pairs)
  else if (message.kind === 'updated') exchange.updated(message.id, message.outcome)
  else void stop()
})

let dgram: { close: () => void } | undefined
exchange.takeKeys(start.keys)
// Adopts before it listens, so that no client is refused needlessly.
if (start.generation !== undefined) takeOver(start.generation)
await listen()

async function listen(): Promise<void> {
  let { port } = start
  if (start.source === undefined) {
    const { listenAddr } = start
    const udp = await listenDgram(
      { tx: udpTx, bucket, tap, gate },
      listenAddr,
      port,
      (query, send) => {
        void exchange.handleUdp(udpTx, query, send)
      },
    )
    if (!udp.ok) return post({ kind: 'failed', message: udp.error })
    dgram = udp.value.socket
    port = udp.value.port
  }
  const tcp = await server.listen(start.listenAddr, port, start.handedTcp)
  if (!tcp.ok) return post({ kind: 'failed', message: tcp.error })
  const opened = secure === undefined ? ok({}) : await secure.open()
  if (!opened.ok) return post({ kind: 'failed', message: opened.error })
  post({ kind: 'listening', ...tcp.value, secure: opened.value })
  const report = (): void => {
    const [tcp, secureStats] = [{ ...server.stats }, secure?.stats]
    post({ kind: 'stats', tcp, secure: secureStats, exchange: exchange.stats() })
  }
  setInterval(report, reportMs).unref()
}

function takeCertificates(pairs: GivenPairs): void {
  given = pairs
  secure?.lookAtCertificates()
}

function takeOver(generation: Generation): void {
  if (!adoption.takeOver(generation)) return
  const timer = setInterval(() => {
    if (!adoption.rehearse(rehearsals)) clearInterval(timer)
  }, rehearsalMs).unref()
}

async function stop(): Promise<void> {
  dgram?.close()
  await Promise.all([server.close(), secure?.close()])
  main?.close()
}
