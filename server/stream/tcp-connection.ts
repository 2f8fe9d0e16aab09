// One TCP connection, plain or with TLS: parses messages, answers them, and reads no faster than
// the client does. Requests of HTTP it leaves to https-session.ts.
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LongReply } from '#system/sockets/long-reply.ts'
import type { TlsCertificates } from '#server/tls/certificates.ts'
import type { ConnectionStart, TcpClient } from './connection-start.ts'
import { MessageReader } from './tcp-framing.ts'
import type { ReplyBatch, ReplyBatchPool } from './tcp-framing.ts'
import type { TcpLimits } from './tcp-limits.ts'
import { GatheredReplies } from './turn-end.ts'
import type { TurnEnd, TurnWriter } from './turn-end.ts'

/**
 * Answers one message. `query` and `reply` never overlap; `reply` holds `replyMax` bytes.
 *
 * @returns length of the reply in bytes; 0 = no reply, and the connection is closed. Or what writes
 *   the reply: until it is done, nothing more is read of this connection
 */
export type AnswerStream = (
  query: Uint8Array,
  queryLength: number,
  reply: Uint8Array,
  replyMax: number,
  client: TcpClient,
) => number | LongReply

/** Counts since the start, except `open`. */
export interface TcpStats {
  open: number
  accepted: number
  /** Over the client's own limit with none of its connections idle. */
  refused: number
  /** Closed to make room for a newer connection. */
  evicted: number
  idleTimeouts: number
  messageTimeouts: number
  writeTimeouts: number
  queries: number
  replies: number
  /** Messages that got no reply; the connection was closed. */
  dropped: number
  bytesReceived: number
  bytesSent: number
  /** With TLS: handshakes that were done, those of them that resumed a session, the others. */
  handshakes: number
  resumed: number
  handshakesFailed: number
  /** The answer function threw: a fault of ours, contained to its connection. */
  failures: number
}

/** What is said on a connection in place of messages that follow each other. */
export interface Conversation {
  /** Nothing is half read or unsent. */
  readonly isIdle: boolean
  /** Lets answers under way go out, then ends. */
  readonly finish: () => void
  /** Closes a connection whose answers have gone out, when its client has had time to do so. */
  readonly leave: (nowMs: number) => void
  /** Closes the connection when one of its times is over. */
  readonly expire: (nowMs: number) => void
}

export interface ConversationParts {
  readonly socket: TLSSocket
  /** Under TLS: it counts what comes. */
  readonly plain: Socket
  readonly client: TcpClient
  readonly shared: TcpShared
  /** A request was answered. */
  readonly onActive: () => void
}

/** Begins HTTP where the handshake is done; see https-session.ts. */
export type BeginHttps = (parts: ConversationParts) => Conversation

/** What the connections of one server share. They run in turn, so one buffer each is enough. */
export interface TcpShared {
  readonly answer: AnswerStream
  readonly query: Uint8Array
  readonly reply: Uint8Array
  readonly batches: ReplyBatchPool
  readonly turnEnd: TurnEnd
  readonly stats: TcpStats
  readonly limits: TcpLimits
  /** With what TLS begins on a connection; undefined: there is none. */
  readonly secure: Pick<TlsCertificates, 'context' | 'byName'> | undefined
  /** undefined: messages follow each other, without HTTP. */
  readonly https: BeginHttps | undefined
  readonly nowMs: () => number
  /** Called when the connection completed a message: it is now the youngest. */
  readonly onActive: (connection: TcpConnection) => void
  /**
   * Called when it is known whose connection one of a proxy is.
   *
   * @returns false: that client has too many
   */
  readonly onClient: (connection: TcpConnection, client: TcpClient) => boolean
}

const never = -1
/** RFC 7858 names no protocol; RFC 9103 section 7.1 does. RFC 8484 section 5.2 wants HTTP/2. */
const alpn = { tls: 'dot', https: 'h2' } as const

export class TcpConnection implements TurnWriter {
  #socket: Socket
  #client: TcpClient
  /** undefined: the connection has begun. */
  #start: ConnectionStart | undefined
  readonly #shared: TcpShared
  readonly #reader = new MessageReader()
  #batch: ReplyBatch | undefined
  readonly #gathered = new GatheredReplies()
  /** We stopped reading: until the kernel takes our bytes, or until the others had their turn. */
  #isWaiting = false
  #isYielding = false
  #isStreaming = false
  #hasPeerEnded = false
  #mustFinish = false
  #lastActiveMs: number
  #partialSinceMs = never
  #writingSinceMs = never
  #finishedAtMs = never

  #isHandshaking = false
  #session: Conversation | undefined

  /** @param start looks for a PROXY header; undefined: there are no proxies */
  constructor(
    socket: Socket,
    client: TcpClient,
    shared: TcpShared,
    start: ConnectionStart | undefined,
  ) {
    this.#socket = socket
    this.#client = client
    this.#start = start
    this.#shared = shared
    this.#lastActiveMs = shared.nowMs()
    if (start === undefined && shared.secure !== undefined) this.#startTls()
    else this.#hear(socket)
  }

  get socket(): Socket {
    return this.#socket
  }

  #hear(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('end', () => {
      this.#hasPeerEnded = true
      if (!this.#isWaiting) this.finish()
    })
    // A reset by the peer is no news: 'close' follows.
    socket.on('error', () => undefined)
  }

  /** From now on messages come through TLS. A handshake has the time of a message. */
  #startTls(): void {
    const { secure, https, stats, nowMs } = this.#shared
    const plain = this.#socket
    plain.removeAllListeners('data').removeAllListeners('end')
    plain.on('error', () => undefined)
    const { context: secureContext, byName: SNICallback } = secure ?? {}
    const options = {
      isServer: true,
      ALPNProtocols: [https === undefined ? alpn.tls : alpn.https],
      ...(secureContext && { secureContext }),
      ...(SNICallback && { SNICallback }),
    }
    const socket = new TLSSocket(plain, options)
    this.#socket = socket
    this.#partialSinceMs = nowMs()
    this.#isHandshaking = true
    // Node tells of errors after the handshake, and of a client that begins it again and again, by
    // this event alone, and leaves the socket open.
    socket.on('_tlsError', () => socket.destroy())
    socket.once('secure', () => {
      this.#isHandshaking = false
      stats.handshakes++
      if (socket.isSessionReused()) stats.resumed++
      this.#partialSinceMs = never
      this.#lastActiveMs = nowMs()
      if (https !== undefined) this.#startHttps(socket, plain, https)
      if (this.#mustFinish) this.finish()
    })
    socket.once('close', () => {
      if (this.#isHandshaking) stats.handshakesFailed++
    })
    if (https === undefined) this.#hear(socket)
    else socket.on('error', () => undefined)
  }

  /** From now on requests come through HTTP/2. */
  #startHttps(socket: TLSSocket, plain: Socket, https: BeginHttps): void {
    const shared = this.#shared
    // A client that named no protocol would speak another version.
    if (socket.alpnProtocol !== alpn.https) return void socket.destroy()
    const onActive = (): void => shared.onActive(this)
    const client = this.#client
    this.#session = https({ socket, plain, client, shared, onActive })
  }

  /** Nothing half read, nothing unsent. */
  get isIdle(): boolean {
    if (this.#session !== undefined) return this.#session.isIdle
    return this.#isResting && this.#gathered.isEmpty
  }

  /** As idle, but that replies may wait for the end of the turn. */
  get #isResting(): boolean {
    return !this.#isWaiting && this.#finishedAtMs === never && this.#partialSinceMs === never
  }

  /** Lets answers under way go out, then closes our half. */
  finish(): void {
    this.#mustFinish = true
    if (this.#session !== undefined) return this.#session.finish()
    if (this.#isWaiting || this.#finishedAtMs !== never) return
    this.#flush()
    this.endTurn()
    this.#finishedAtMs = this.#shared.nowMs()
    this.socket.end()
    // Read on (and forget), so that the peer's FIN is seen and no reset overtakes our answers.
    this.socket.resume()
  }

  /** Finishes at once when idle, else after the message under way. */
  finishWhenIdle(): void {
    this.#mustFinish = true
    if (this.#isHandshaking) this.socket.destroy()
    else if (this.#isResting || this.#session !== undefined) this.finish()
  }

  /** Closes a connection whose answers have gone out, when its client has had time to do so. */
  leave(nowMs: number): void {
    if (this.#session !== undefined) return this.#session.leave(nowMs)
    if (this.#finishedAtMs === never || !this.socket.writableFinished) return
    if (nowMs - this.#finishedAtMs >= this.#shared.limits.lingerMs) this.socket.destroy()
  }

  /** Closes the connection when one of its times is over. */
  expire(nowMs: number): void {
    if (this.#session !== undefined) return this.#session.expire(nowMs)
    const { limits, stats } = this.#shared
    if (this.#finishedAtMs !== never) {
      if (nowMs - this.#finishedAtMs >= limits.writeTimeoutMs) this.socket.destroy()
    } else if (this.socket.writableLength > 0) {
      if (nowMs - this.#writingSinceMs < limits.writeTimeoutMs) return
      stats.writeTimeouts++
      this.socket.destroy()
    } else if (this.#partialSinceMs !== never) {
      if (nowMs - this.#partialSinceMs < limits.messageTimeoutMs) return
      stats.messageTimeouts++
      this.socket.destroy()
    } else if (this.isIdle && nowMs - this.#lastActiveMs >= limits.idleTimeoutMs) {
      stats.idleTimeouts++
      this.finish()
    }
  }

  #take(chunk: Buffer): void {
    this.#shared.stats.bytesReceived += chunk.length
    if (this.#finishedAtMs !== never) return
    const messages = this.#start === undefined ? chunk : this.#begin(this.#start, chunk)
    if (messages === undefined) return
    this.#reader.push(messages)
    this.#run()
  }

  /** @returns what follows a PROXY header; undefined: more must come, or the connection is over */
  #begin(start: ConnectionStart, chunk: Uint8Array): Uint8Array | undefined {
    const began = start.take(chunk)
    if (began === null) {
      if (this.#partialSinceMs === never) this.#partialSinceMs = this.#shared.nowMs()
      return undefined
    }
    this.#start = undefined
    this.#partialSinceMs = never
    if (began === 'refused') {
      this.socket.destroy()
      return undefined
    }
    if (began.client !== null) this.#client = began.client
    if (start.isProxy && !this.#shared.onClient(this, this.#client)) return undefined
    if (this.#shared.secure === undefined) return began.rest
    // What has come is the beginning of the handshake.
    this.socket.pause()
    if (began.rest.length > 0) this.socket.unshift(began.rest)
    this.#startTls()
    return undefined
  }

  /** Answers what has come, at most one turn's worth. */
  #run(): void {
    const { limits, query } = this.#shared
    let turn = 0
    let length = -1
    while (turn < limits.messagesPerTurnMax && (length = this.#reader.next(query)) >= 0) {
      this.#partialSinceMs = never
      turn++
      if (!this.#answer(length)) return
      if (this.socket.writableLength > 0) break
    }
    if (turn > 0) {
      this.#lastActiveMs = this.#shared.nowMs()
      this.#shared.onActive(this)
    }
    this.#flush()
    if (this.socket.writableLength > 0) this.#wait()
    else if (length >= 0) this.#yield()
    else this.#rest()
  }

  /** @returns false when the conversation is over */
  #answer(queryLength: number): boolean {
    const { answer, query, reply, stats } = this.#shared
    stats.queries++
    let length: number | LongReply = 0
    try {
      length = answer(query, queryLength, reply, reply.length, this.#client)
    } catch {
      // A fault of ours costs this client its connection, not the others theirs.
      stats.failures++
      this.socket.destroy()
      return false
    }
    if (typeof length !== 'number') {
      this.#flush()
      void this.#stream(length)
      return false
    }
    if (length === 0) {
      stats.dropped++
      this.finish()
      return false
    }
    stats.replies++
    this.#batch ??= this.#shared.batches.take()
    if (this.#batch.append(reply, length)) return true
    this.#flush()
    this.#batch = this.#shared.batches.take()
    this.#batch.append(reply, length)
    return true
  }

  /** Writes each message of a long reply when the kernel has taken the one before. */
  async #stream(long: LongReply): Promise<void> {
    const { stats } = this.#shared
    this.#wait()
    this.#isStreaming = true
    try {
      let length = 1
      while (length > 0) {
        length = await this.#writeNext(long)
        // The kernel may take many messages at once: the other connections come in between.
        if (length > 0) await nextTurn()
      }
      if (length < 0) this.socket.destroy()
    } catch {
      stats.failures++
      this.socket.destroy()
    }
    long.end()
    stats.replies++
    this.#isStreaming = false
    this.#goOn()
  }

  /** @returns octets of the message; 0: there are no more; -1: the connection is over */
  async #writeNext(long: LongReply): Promise<number> {
    if (this.socket.destroyed) return -1
    const { batches } = this.#shared
    const batch = batches.take()
    const written = long.next(batch.message)
    const length = typeof written === 'number' ? written : await written
    if (length <= 0 || this.socket.destroyed) {
      batches.give(batch)
      return Math.min(length, 0)
    }
    batch.endMessage(length)
    this.#batch = batch
    await new Promise<void>((resolve) => this.#flush(resolve))
    return length
  }

  /** Everything that came is answered: read on, or say goodbye. */
  #rest(): void {
    if (this.#reader.isPartial && this.#partialSinceMs === never) {
      this.#partialSinceMs = this.#shared.nowMs()
    }
    const isOver = this.#hasPeerEnded || (this.#mustFinish && !this.#reader.isPartial)
    if (isOver) this.finish()
    else this.socket.resume()
  }

  /** Stops reading until the kernel has taken what we wrote. */
  #wait(): void {
    this.#isWaiting = true
    this.socket.pause()
  }

  /** Lets the other connections run before the rest of this one's messages. */
  #yield(): void {
    this.#wait()
    this.#isYielding = true
    setImmediate(() => {
      this.#isYielding = false
      this.#goOn()
    })
  }

  #goOn(): void {
    if (!this.#isWaiting || this.#isYielding || this.#isStreaming) return
    if (this.socket.destroyed || this.socket.writableLength > 0) return
    this.#isWaiting = false
    this.#run()
  }

  /** @param onTaken called when the kernel has what was written, or the connection is over */
  #flush(onTaken?: () => void): void {
    const batch = this.#batch
    if (batch === undefined) return
    this.#batch = undefined
    const { batches, stats, secure, turnEnd } = this.#shared
    stats.bytesSent += batch.used
    const bytes = batch.bytes.subarray(0, batch.used)
    const gathered = this.#gathered
    if (secure !== undefined && onTaken === undefined && gathered.hasRoomFor(batch.used)) {
      if (gathered.isEmpty) turnEnd.add(this)
      gathered.add(bytes)
      batches.give(batch)
      return
    }
    this.endTurn()
    this.#write(bytes, () => {
      batches.give(batch)
      onTaken?.()
    })
  }

  /** Writes the replies that have waited for the other messages of this turn. */
  endTurn(): void {
    if (this.#gathered.isEmpty) return
    const replies = this.#gathered.take()
    if (!this.socket.destroyed) this.#write(replies)
  }

  #write(bytes: Uint8Array, onTaken?: () => void): void {
    this.#writingSinceMs = this.#shared.nowMs()
    this.socket.write(bytes, () => {
      onTaken?.()
      this.#goOn()
    })
  }
}
