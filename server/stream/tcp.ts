// The TCP server of a node: accepts, limits and closes connections. RFC 7766, RFC 9210.
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { parseAddress, subscriberOf } from '#dns/address.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { descriptorOf } from '#system/sockets/handed-sockets.ts'
import type { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { whyNotListening } from '#system/sockets/listen-fault.ts'
import { ConnectionStart } from './connection-start.ts'
import type { TcpClient } from './connection-start.ts'
import { TcpConnection } from './tcp-connection.ts'
import type { AnswerStream, BeginHttps, TcpShared, TcpStats } from './tcp-connection.ts'
import { ReplyBatchPool } from './tcp-framing.ts'
import { tcpLimits, tcpMessageBytesMax } from './tcp-limits.ts'
import type { TcpLimits } from './tcp-limits.ts'
import { TurnEnd } from './turn-end.ts'

interface TcpServerParts {
  readonly answer: AnswerStream
  /** Never goes back; see lib/clock.ts. */
  readonly monotonicMs: () => number
  /** What differs from `tcpLimits`. */
  readonly limits?: Partial<TcpLimits>
  /** Left out: there are no proxies. */
  readonly gate?: ProxyGate | undefined
  /** Names the port in what is said to the operator. Left out: dns.port. */
  readonly portKey?: string
  /** With what TLS begins on each connection; left out: there is none. */
  readonly secure?: TcpShared['secure']
  /** DNS over HTTPS; left out: there is none. */
  readonly https?: BeginHttps
  /** Left out: batches of its own. */
  readonly batches?: ReplyBatchPool
}

export interface TcpListening {
  readonly port: number
  /** What may be handed to another process; undefined: nothing can. */
  readonly descriptor: number | undefined
}

const leaveEveryMs = 50
/** The key of connections of proxies that have named no client yet. */
const unnamed = ''

/** Does not listen yet when it is made. */
export class TcpServer {
  readonly #server: Server
  readonly #gate: ProxyGate | undefined
  readonly #portKey: string | undefined
  readonly #shared: TcpShared
  /** To the client's key. Least recently active first: a Map keeps the order of insertion. */
  readonly #connections = new Map<TcpConnection, string>()
  readonly #countByClient = new Map<string, number>()
  #sweep: NodeJS.Timeout | undefined
  #closed: Promise<void> | undefined
  #onEmpty = (): void => undefined

  constructor(parts: TcpServerParts) {
    const { answer, monotonicMs, limits, gate, secure, https, portKey, batches } = parts
    this.#portKey = portKey
    this.#gate = gate
    this.#shared = {
      answer,
      query: new Uint8Array(tcpMessageBytesMax),
      reply: new Uint8Array(tcpMessageBytesMax),
      batches: batches ?? new ReplyBatchPool(),
      turnEnd: new TurnEnd(),
      stats: emptyStats(),
      limits: { ...tcpLimits, ...limits },
      ...{ secure, https },
      nowMs: monotonicMs,
      onActive: (connection) => this.#makeYoungest(connection),
      onClient: (connection, named) => this.#name(connection, named),
    }
    // Half-open: a client that has sent its last query still gets its answers.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#accept(socket),
    )
  }

  get stats(): Readonly<TcpStats> {
    return this.#shared.stats
  }

  /** True from the first `close`: clients are to be told to leave (RFC 7828 section 3.3.2). */
  get isClosing(): boolean {
    return this.#closed !== undefined
  }

  /**
   * Errors: what is wrong, where, and what to do.
   *
   * @param port 0 lets the kernel choose; the value says which
   * @param handed the descriptor of a socket that listens there already; the server closes it
   */
  async listen(
    address: string,
    port: number,
    handed?: number,
  ): Promise<Result<TcpListening, string>> {
    const { limits } = this.#shared
    const place = handed === undefined ? { host: address, port } : { fd: handed }
    const fault = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      this.#server.once('error', resolve)
      this.#server.listen({ ...place, backlog: limits.backlog, exclusive: true }, () => {
        this.#server.off('error', resolve)
        resolve(undefined)
      })
    })
    if (fault !== undefined)
      return err(whyNotListening('TCP', address, port, fault.code ?? fault.message, this.#portKey))
    // Out of file descriptors while accepting: the kernel keeps the client waiting, we go on.
    this.#server.on('error', () => undefined)
    const shortest = Math.min(limits.idleTimeoutMs, limits.messageTimeoutMs, limits.writeTimeoutMs)
    const sweepMs = Math.min(Math.max(shortest / 8, 5), 500)
    this.#sweep = setInterval(() => this.#expire(), sweepMs)
    const { port: bound } = this.#server.address() as AddressInfo
    return ok({ port: bound, descriptor: descriptorOf(this.#server) })
  }

  /** Accepts no more, lets answers under way go out, and is done within `closeTimeoutMs`. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    if (!this.#server.listening) return
    const allGone = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const connection of this.#connections.keys()) connection.finishWhenIdle()
    const { limits, nowMs } = this.#shared
    const patience = setTimeout(() => {
      for (const connection of this.#connections.keys()) connection.socket.destroy()
    }, limits.closeTimeoutMs)
    const leaving = setInterval(() => {
      for (const connection of this.#connections.keys()) connection.leave(nowMs())
    }, leaveEveryMs)
    await allGone
    // The server says it is closed one moment before its last sockets do.
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
    clearTimeout(patience)
    clearInterval(leaving)
    clearInterval(this.#sweep)
  }

  #accept(socket: Socket): void {
    const { stats, limits } = this.#shared
    const client = clientOf(socket)
    // Gone between the kernel's accept and ours.
    if (client === undefined) return void socket.destroy()
    const isProxy = this.#gate?.isProxy(client.address, 0, client.address.length) === true
    const start = this.#gate === undefined ? undefined : new ConnectionStart(this.#gate, isProxy)
    // A proxy has as many connections as the clients that it speaks for.
    const key = isProxy ? unnamed : subscriberOf(client.address)
    if (!isProxy && !this.#hasRoomFor(key)) {
      stats.refused++
      socket.destroy()
      return
    }
    if (this.#connections.size >= limits.connectionsMax && !this.#evictIdle()) this.#evictOldest()
    const connection = new TcpConnection(socket, client, this.#shared, start)
    this.#connections.set(connection, key)
    this.#countUp(key)
    stats.accepted++
    stats.open++
    socket.once('close', () => this.#forget(connection))
    if (this.isClosing) connection.finishWhenIdle()
  }

  /** A proxy has said for whom it speaks, or that it speaks for itself. */
  #name(connection: TcpConnection, client: TcpClient): boolean {
    // Evicted while its header was on the way.
    if (!this.#connections.has(connection)) return false
    const key = subscriberOf(client.address)
    if (!this.#hasRoomFor(key)) {
      this.#shared.stats.refused++
      this.#forget(connection)
      connection.socket.destroy()
      return false
    }
    this.#countDown(unnamed)
    this.#countUp(key)
    this.#connections.set(connection, key)
    return true
  }

  #hasRoomFor(key: string): boolean {
    const { connectionsPerClientMax } = this.#shared.limits
    return this.#countOf(key) < connectionsPerClientMax || this.#evictIdle(key)
  }

  #countOf(key: string): number {
    return this.#countByClient.get(key) ?? 0
  }

  /** Closes the idle connection that was active longest ago; `key` narrows it to one client's. */
  #evictIdle(key?: string): boolean {
    for (const [connection, itsKey] of this.#connections) {
      if (key !== undefined && itsKey !== key) continue
      if (!connection.isIdle) continue
      this.#evict(connection)
      return true
    }
    return false
  }

  /** All are busy: the one without a whole message for longest is the likeliest to stall us. */
  #evictOldest(): void {
    for (const connection of this.#connections.keys()) return this.#evict(connection)
  }

  #evict(connection: TcpConnection): void {
    this.#shared.stats.evicted++
    this.#forget(connection)
    connection.socket.destroy()
  }

  #forget(connection: TcpConnection): void {
    const key = this.#connections.get(connection)
    if (key === undefined) return
    this.#connections.delete(connection)
    this.#shared.stats.open--
    this.#countDown(key)
    if (this.#connections.size === 0) this.#onEmpty()
  }

  #countUp(key: string): void {
    this.#countByClient.set(key, this.#countOf(key) + 1)
  }

  #countDown(key: string): void {
    const left = this.#countOf(key) - 1
    if (left > 0) this.#countByClient.set(key, left)
    else this.#countByClient.delete(key)
  }

  #makeYoungest(connection: TcpConnection): void {
    const key = this.#connections.get(connection)
    if (key === undefined) return
    this.#connections.delete(connection)
    this.#connections.set(connection, key)
  }

  #expire(): void {
    const nowMs = this.#shared.nowMs()
    for (const connection of this.#connections.keys()) connection.expire(nowMs)
  }
}

function clientOf(socket: Socket): TcpClient | undefined {
  const { remoteAddress, remotePort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return undefined
  // A link-local address carries its interface: fe80::1%eth0.
  const parsed = parseAddress(remoteAddress.split('%')[0] as string)
  if (!parsed.ok) return undefined
  const address = new Uint8Array(16)
  address.set(parsed.value, 16 - parsed.value.length)
  if (parsed.value.length === 4) address.fill(0xff, 10, 12)
  return { address, port: remotePort }
}

function emptyStats(): TcpStats {
  return {
    open: 0,
    accepted: 0,
    refused: 0,
    evicted: 0,
    idleTimeouts: 0,
    messageTimeouts: 0,
    writeTimeouts: 0,
    queries: 0,
    replies: 0,
    dropped: 0,
    bytesReceived: 0,
    bytesSent: 0,
    handshakes: 0,
    resumed: 0,
    handshakesFailed: 0,
    failures: 0,
  }
}
