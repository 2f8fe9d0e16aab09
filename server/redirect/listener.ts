// Runs the HTTP listener of redirects: sockets, limits and headers; `answers.ts` decides the
// answers.
import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import { uidOf } from '#bundle/format/bundle.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { AccessLog } from './access-log.ts'
import { RedirectAnswers } from './answers.ts'
import type { RedirectAnswer } from './answers.ts'
import { Challenges } from './challenges.ts'
import type { FoundChallenge } from './challenges.ts'
import { ConnectionLimit } from './connections.ts'
import type { RedirectCounters } from './counters.ts'
import { EncodedConnection, encodedRequest } from './encoded-request.ts'
import type { ParseError } from './encoded-request.ts'
import { redirectLimits } from './limits.ts'
import { certificateLimits } from '#server/tls/certificate.ts'
import { TlsCertificates } from '#server/tls/certificates.ts'
import { pairsIn, sourcesOf } from '#server/tls/sources.ts'
import type { GivenPairs, TlsPair } from '#server/tls/sources.ts'
import { descriptorOf } from '#system/sockets/handed-sockets.ts'
import type {
  RedirectChallenge,
  RedirectDescriptors,
  RedirectListenerSettings,
  RedirectTable,
} from './messages.ts'

// `node:http` is not imported, because an import would load a WebSocket as well: 40 ms of CPU in
// each thread.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')

interface RedirectListenerParts {
  readonly settings: RedirectListenerSettings
  readonly counters: RedirectCounters
  readonly clock: Clock
  readonly log: Log
  /** Left out: that of `certificateLimits`. */
  readonly certificatesEveryMs?: number
}

export interface ListeningPorts {
  readonly port: number
  /** null: there is no https listener. */
  readonly httpsPort: number | null
}

export class RedirectListener {
  readonly #parts: RedirectListenerParts
  readonly #answers = new RedirectAnswers()
  readonly #challenges: Challenges
  readonly #connections: ConnectionLimit
  readonly #certificates: TlsCertificates
  #given: GivenPairs = {}
  /** The default that the server has. */
  #shown: TlsPair | undefined
  readonly #accessLog: AccessLog | undefined
  readonly #servers: Server[] = []
  #secure: HttpsServer | undefined
  #hits: Float64Array = new Float64Array(0)
  #uids: Uint8Array = new Uint8Array(0)
  #patrol: NodeJS.Timeout | undefined

  constructor(parts: RedirectListenerParts) {
    this.#parts = parts
    const { settings, counters, clock, log } = parts
    const { maxConnections, maxPerClient, accessLog } = settings
    this.#connections = new ConnectionLimit(maxConnections, maxPerClient, counters)
    const { https } = settings
    const sources = sourcesOf(pairsIn('redirect.https', https), () => this.#given)
    this.#certificates = new TlsCertificates(sources, log, clock.nowMs)
    this.#challenges = new Challenges(settings.challenges ?? [])
    if (accessLog === undefined) return
    this.#accessLog = new AccessLog(accessLog, log, (lines) => counters.logDropped(lines))
  }

  /** Answers from this table, from the next request on. */
  adopt({ columns, hits }: RedirectTable): void {
    this.#answers.adopt(columns)
    this.#hits = new Float64Array(hits)
    this.#uids = columns.redirectUid
  }

  challenge(challenges: readonly RedirectChallenge[]): void {
    this.#challenges.adopt(challenges)
  }

  /** Answers https with these of an ACME server from the next connection on. */
  certify(pairs: GivenPairs): void {
    this.#given = pairs
    if (this.#secure !== undefined) this.#lookAtCertificates(this.#secure)
  }

  reopenLog(): void {
    this.#accessLog?.reopen()
  }

  /** Opens the sockets. Errors: a sentence for the operator. */
  async start(handed: RedirectDescriptors = {}): Promise<Result<ListeningPorts, string>> {
    const { port, https } = this.#parts.settings
    const http = createServer(this.#options(), this.#handler('http'))
    const listening = await this.#listen(http, port, 'redirect.port', handed.http)
    if (!listening.ok || https.port === undefined) {
      return listening.ok ? ok({ port: listening.value, httpsPort: null }) : listening
    }
    const loaded = this.#certificates.load()
    if (!loaded.ok) return loaded
    const { byName } = this.#certificates
    const secure = createHttpsServer(
      {
        ...this.#options(),
        ...(byName && { SNICallback: byName }),
        ALPNProtocols: ['http/1.1'],
        handshakeTimeout: this.#parts.settings.requestTimeoutMs,
      },
      this.#handler('https'),
    )
    this.#secure = secure
    secure.on('tlsClientError', (_error, socket) => socket.destroy())
    const everyMs = this.#parts.certificatesEveryMs ?? certificateLimits.everyMs
    this.#show(secure)
    this.#patrol = setInterval(() => this.#lookAtCertificates(secure), everyMs)
    const second = await this.#listen(secure, https.port, 'redirect.https.port', handed.https)
    return second.ok ? ok({ port: listening.value, httpsPort: second.value }) : second
  }

  #lookAtCertificates(server: HttpsServer): void {
    this.#certificates.look()
    this.#show(server)
  }

  /** Sessions end with what is set here, so it is set only when there is another. */
  #show(server: HttpsServer): void {
    const { pair } = this.#certificates
    if (pair === undefined || pair === this.#shown) return
    this.#shown = pair
    server.setSecureContext({ cert: pair.cert, key: pair.key })
  }

  /** Descriptors that may be handed to another process. */
  descriptors(): RedirectDescriptors {
    const [http, https] = this.#servers.map((server) => descriptorOf(server))
    return { http, https }
  }

  /** Answers the requests under way, then closes everything. */
  async stop(): Promise<void> {
    clearInterval(this.#patrol)
    const closed = this.#servers.map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    )
    for (const server of this.#servers) server.closeIdleConnections()
    const patience = setTimeout(() => {
      for (const server of this.#servers) server.closeAllConnections()
    }, redirectLimits.stopMs)
    await Promise.all(closed)
    clearTimeout(patience)
    await this.#accessLog?.close()
  }

  #options(): ServerOptions {
    const { idleTimeoutMs, requestTimeoutMs } = this.#parts.settings
    return {
      maxHeaderSize: redirectLimits.headerBytesMax,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: idleTimeoutMs,
      connectionsCheckingInterval: Math.min(redirectLimits.patrolMs, requestTimeoutMs),
      // Two Host headers are joined to a text that is no host, so the request is refused.
      joinDuplicateHeaders: true,
      noDelay: true,
    }
  }

  #listen(
    server: Server,
    port: number,
    setting: string,
    handed: number | undefined,
  ): Promise<Result<number, string>> {
    const { listenAddr, idleTimeoutMs, requestTimeoutMs } = this.#parts.settings
    const place = handed === undefined ? { host: listenAddr, port } : { fd: handed }
    server.maxHeadersCount = redirectLimits.headersMax
    // A client that reads nothing is closed as well.
    server.setTimeout(idleTimeoutMs + requestTimeoutMs, (socket) => socket.destroy())
    server.on('connection', (socket: Socket | EncodedConnection) => {
      if (!(socket instanceof EncodedConnection)) this.#connections.admit(socket)
    })
    const opened = server instanceof TlsServer ? 'secureConnection' : 'connection'
    server.on('clientError', (error: ParseError, socket: Duplex) => {
      const encoded = encodedRequest(error)
      if (encoded === undefined) this.#refuse(error, socket)
      else server.emit(opened, new EncodedConnection(socket, encoded))
    })
    // CONNECT is refused: this server is no proxy.
    server.on('connect', (_request, socket: Duplex) => this.#refuse({}, socket))
    return new Promise((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        resolve(err(whyNot(listenAddr, port, setting, error)))
      })
      server.listen(place, () => {
        server.removeAllListeners('error')
        // After the start, errors concern single connections that were not accepted: the server
        // goes on.
        server.on('error', (error) => this.#parts.log.warn({ err: String(error) }, 'redirects'))
        this.#servers.push(server)
        resolve(ok((server.address() as AddressInfo).port))
      })
    })
  }

  #handler(scheme: 'http' | 'https'): RequestListener {
    return (request, response) => {
      const challenge = this.#challenges.find(request.headers.host, request.url)
      if (challenge !== undefined) return void this.#answerChallenge(challenge, request, response)
      const answer = this.#answers.answer(request.headers.host, request.url ?? '')
      const { counters } = this.#parts
      counters.answered(answer.status)
      if (answer.row >= 0) this.#hits[answer.row]! += 1
      const headers = ['Content-Length', '0']
      if (answer.location !== '') headers.push('Location', answer.location)
      if (answer.hsts !== '' && scheme === 'https') {
        headers.push('Strict-Transport-Security', answer.hsts)
      }
      if (answer.status === 503) headers.push('Retry-After', '1')
      // The body is not read, so the connection cannot be used again.
      if (hasBody(request)) response.shouldKeepAlive = false
      response.writeHead(answer.status, headers)
      response.end()
      if (this.#accessLog !== undefined) this.#note(scheme, request, answer)
    }
  }

  async #answerChallenge(
    challenge: FoundChallenge,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const isOwn = 'answer' in challenge
    const { status, text } = isOwn
      ? { status: 200, text: challenge.answer }
      : await this.#challenges.ask(challenge)
    this.#parts.counters.answered(status)
    if (hasBody(request)) response.shouldKeepAlive = false
    response.writeHead(status, {
      ...{ 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text, 'latin1') },
      'x-content-type-options': 'nosniff',
    })
    response.end(text, 'latin1')
  }

  #note(scheme: 'http' | 'https', request: IncomingMessage, { status, row }: RedirectAnswer): void {
    this.#accessLog?.add(this.#parts.clock.nowMs(), {
      client: request.socket.remoteAddress ?? '',
      scheme,
      host: request.headers.host ?? '',
      method: request.method ?? '',
      path: request.url ?? '',
      status,
      redirect: row < 0 ? '' : uidOf(this.#uids, row),
      userAgent: request.headers['user-agent'] ?? '',
    })
  }

  /** Refuses a request that is no HTTP, too long or too slow. */
  #refuse({ code }: Pick<ParseError, 'code'>, socket: Duplex): void {
    const status = refusals[code ?? ''] ?? 400
    if (code !== 'ECONNRESET') this.#parts.counters.answered(status)
    if (!socket.writable || code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      () => socket.destroy(),
    )
  }
}

const refusals: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0' } = headers
  return length !== '0' || headers['transfer-encoding'] !== undefined
}

const advice: Readonly<Record<string, string>> = Object.freeze({
  EADDRINUSE: 'another program has it; stop that one, or choose another port',
  EADDRNOTAVAIL:
    'this machine does not have that address; set redirect.listenAddr to one that it has',
  EACCES: 'not allowed; ports below 1024 need root or CAP_NET_BIND_SERVICE',
})

function whyNot(
  listenAddr: string,
  port: number,
  setting: string,
  { code, message }: NodeJS.ErrnoException,
): string {
  const place = `${listenAddr} port ${port} (redirect.listenAddr, ${setting})`
  return `cannot listen on TCP ${place}: ${advice[code ?? ''] ?? message}`
}
