// The requests of one connection of DNS over HTTPS: HTTP/2 by Node, over TLS that is established.
import { constants, performServerHandshake } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { freshSeconds } from './freshness.ts'
import { httpsLimits } from './https-limits.ts'
import { checked, dnsMessageType, outcomes, readRequest } from './https-request.ts'
import type { HttpsCounts, Outcome } from './https-request.ts'
import type { BeginHttps, Conversation, ConversationParts } from './tcp-connection.ts'
import { tcpMessageBytesMax } from './tcp-limits.ts'

/** A request that is open. */
interface Open {
  sinceMs: number
  isAnswered: boolean
  readonly body: Uint8Array[]
  bodyBytes: number
  /** What its reply has, while not all of it is sent. */
  replyBytes: number
}

const never = -1
const { streamsMax, headerBytesMax, headersMax, bodiesBytesMax, idleBytesMax } = httpsLimits
const { controlFramesMax, repliesBytesMax } = httpsLimits

const sessionOptions = Object.freeze({
  maxSessionMemory: httpsLimits.sessionMegabytesMax,
  maxHeaderListPairs: headersMax,
  maxSessionInvalidFrames: httpsLimits.invalidFramesMax,
  maxSessionRejectedStreams: httpsLimits.rejectedStreamsMax,
  streamResetBurst: httpsLimits.resetsAtOnce,
  streamResetRate: httpsLimits.resetsPerSecond,
  settings: {
    ...{ maxConcurrentStreams: streamsMax, maxHeaderListSize: headerBytesMax, enablePush: false },
  },
})

/** What makes a listener one of DNS over HTTPS. @param counts are counted up */
export function httpsAt(path: string, counts: HttpsCounts): BeginHttps {
  return (parts) => new HttpsSession(parts, path, counts)
}

class HttpsSession implements Conversation {
  readonly #parts: ConversationParts
  readonly #path: string
  readonly #counts: HttpsCounts
  readonly #session: ServerHttp2Session
  readonly #open = new Map<ServerHttp2Stream, Open>()
  /** Requests that wait until the replies before them have gone out. */
  readonly #held: ServerHttp2Stream[] = []
  #bodiesBytes = 0
  #repliesBytes = 0
  #controlFrames = 0
  /** Octets that had come at the last look, and requests that have ended since. */
  #seenBytes: number
  #ended = 0
  #lastActiveMs: number
  #finishedAtMs = never

  constructor(parts: ConversationParts, path: string, counts: HttpsCounts) {
    this.#parts = parts
    this.#path = path
    this.#counts = counts
    const { socket, plain, shared } = parts
    this.#seenBytes = plain.bytesRead
    this.#lastActiveMs = shared.nowMs()
    const session = performServerHandshake(socket, sessionOptions)
    this.#session = session
    // A server's TLSSocket does not say it by itself, and the session waits for it.
    socket.emit('secureConnect')
    session.on('stream', (stream, headers) => this.#begin(stream, headers))
    session.on('ping', () => this.#countControl())
    session.on('remoteSettings', () => this.#countControl())
    // Node ends a session that floods it, and says so by an error.
    session.on('error', () => undefined)
    session.on('frameError', () => undefined)
    // Node leaves the session of a client that says no more open, since we accept half-closed ones.
    socket.on('end', () => this.finish())
  }

  /** No request is open. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#finishedAtMs === never
  }

  /** Takes no more requests, and closes when the open ones are answered. */
  finish(): void {
    if (this.#finishedAtMs !== never) return
    this.#finishedAtMs = this.#parts.shared.nowMs()
    if (!this.#session.destroyed) this.#session.close()
  }

  /** Closes a connection whose answers have gone out, when its client has had time to do so. */
  leave(nowMs: number): void {
    if (this.#finishedAtMs === never || !this.#session.destroyed) return
    if (nowMs - this.#finishedAtMs >= this.#parts.shared.limits.lingerMs) this.#destroy()
  }

  /** Closes the connection when one of its times is over, or much came that is no request. */
  expire(nowMs: number): void {
    const { limits, stats } = this.#parts.shared
    if (this.#isFlooded()) return this.#endFlood()
    for (const { sinceMs, isAnswered } of this.#open.values()) {
      const patienceMs = isAnswered ? limits.writeTimeoutMs : limits.messageTimeoutMs
      if (nowMs - sinceMs < patienceMs) continue
      if (isAnswered) stats.writeTimeouts++
      else stats.messageTimeouts++
      return this.#destroy()
    }
    if (this.#finishedAtMs !== never) {
      if (nowMs - this.#finishedAtMs >= limits.writeTimeoutMs) this.#destroy()
    } else if (this.isIdle && nowMs - this.#lastActiveMs >= limits.idleTimeoutMs) {
      stats.idleTimeouts++
      this.finish()
    }
  }

  #destroy(): void {
    this.#parts.socket.destroy()
  }

  #countControl(): void {
    if (++this.#controlFrames > controlFramesMax) this.#endFlood()
  }

  /** More has come than requests account for: empty frames, windows, priorities, half headers. */
  #isFlooded(): boolean {
    const { bytesRead } = this.#parts.plain
    const accounted = this.#ended * (headerBytesMax + tcpMessageBytesMax)
    const isFlooded = bytesRead - this.#seenBytes > idleBytesMax + bodiesBytesMax + accounted
    this.#seenBytes = bytesRead
    this.#ended = 0
    return isFlooded
  }

  #endFlood(): void {
    if (this.#session.destroyed) return
    this.#counts.floods++
    this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  #begin(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const sinceMs = this.#parts.shared.nowMs()
    const open: Open = { sinceMs, isAnswered: false, body: [], bodyBytes: 0, replyBytes: 0 }
    this.#open.set(stream, open)
    stream.once('close', () => this.#forget(stream, open))
    // A stream that its client has reset is no news: 'close' follows.
    stream.on('error', () => undefined)
    const asked = readRequest(headers, this.#path)
    if (asked === 'body') this.#hearBody(stream, open)
    else this.#take(stream, open, asked)
    // A stream ends when both of its sides have, also where nothing is read. Node reads one without
    // a body to its end itself, behind the reply; where that end has come before, it makes an error
    // object, which nobody sees: a quarter of what a request costs.
    if (!stream.endAfterHeaders) stream.resume()
  }

  #forget(stream: ServerHttp2Stream, open: Open): void {
    this.#open.delete(stream)
    this.#ended++
    this.#letGo(open)
    this.#repliesBytes -= open.replyBytes
    this.#lastActiveMs = this.#parts.shared.nowMs()
    while (this.#held.length > 0 && this.#repliesBytes < repliesBytesMax) {
      const next = this.#held.shift()!
      const held = this.#open.get(next)
      if (held?.isAnswered === false) this.#reply(next, held, held.body[0]!)
    }
  }

  #letGo(open: Open): void {
    this.#bodiesBytes -= open.bodyBytes
    open.bodyBytes = 0
    open.body.length = 0
  }

  #hearBody(stream: ServerHttp2Stream, open: Open): void {
    stream.on('data', (chunk: Buffer) => {
      if (open.isAnswered) return
      open.bodyBytes += chunk.length
      this.#bodiesBytes += chunk.length
      open.body.push(chunk)
      const isTooLarge = open.bodyBytes > tcpMessageBytesMax || this.#bodiesBytes > bodiesBytesMax
      if (isTooLarge) this.#reply(stream, open, 'tooLarge')
    })
    stream.on('end', () => {
      if (!open.isAnswered) this.#take(stream, open, checked(Buffer.concat(open.body)))
    })
  }

  /** A client that opens no window has replies up to a bound, and then its requests wait. */
  #take(
    stream: ServerHttp2Stream,
    open: Open,
    asked: Uint8Array | Exclude<Outcome, 'answered'>,
  ): void {
    if (typeof asked === 'string' || this.#repliesBytes < repliesBytesMax) {
      return this.#reply(stream, open, asked)
    }
    this.#letGo(open)
    open.body.push(asked)
    open.bodyBytes = asked.length
    this.#bodiesBytes += asked.length
    if (this.#bodiesBytes > bodiesBytesMax) this.#reply(stream, open, 'tooLarge')
    else this.#held.push(stream)
  }

  #reply(
    stream: ServerHttp2Stream,
    open: Open,
    asked: Uint8Array | Exclude<Outcome, 'answered'>,
  ): void {
    // Its client has reset it.
    if (stream.closed || stream.destroyed) return
    this.#controlFrames = 0
    open.isAnswered = true
    open.sinceMs = this.#parts.shared.nowMs()
    this.#letGo(open)
    const answered = typeof asked === 'string' ? asked : this.#answer(asked)
    const outcome = typeof answered === 'string' ? answered : 'answered'
    this.#counts[outcome]++
    try {
      if (typeof answered === 'string') this.#refuse(stream, answered)
      else {
        open.replyBytes = answered.length
        this.#repliesBytes += answered.length
        this.#send(stream, answered)
      }
    } catch {
      // Thrown: Node knows of the end of a stream before it says so.
      this.#parts.shared.stats.failures++
      this.#destroy()
    }
    this.#parts.onActive()
  }

  #answer(message: Uint8Array): Buffer | 'badRequest' | 'failed' {
    const { answer, query, reply, stats } = this.#parts.shared
    stats.queries++
    stats.bytesReceived += message.length
    query.set(message)
    try {
      const length = answer(query, message.length, reply, reply.length, this.#parts.client)
      if (length === 0) {
        stats.dropped++
        return 'badRequest'
      }
      if (typeof length !== 'number') {
        length.end()
        return 'failed'
      }
      stats.replies++
      stats.bytesSent += length
      return Buffer.from(reply.subarray(0, length))
    } catch {
      // A fault of ours costs this client its request, not the others theirs.
      stats.failures++
      return 'failed'
    }
  }

  #send(stream: ServerHttp2Stream, reply: Buffer): void {
    // A list costs Node less than an object with these keys.
    stream.respond([
      ...[':status', '200', 'content-type', dnsMessageType],
      ...['content-length', String(reply.length)],
      // An answer may go by the client's address: caches that several clients share keep none.
      ...['cache-control', `private, max-age=${freshSeconds(reply)}`],
    ])
    stream.end(reply)
  }

  #refuse(stream: ServerHttp2Stream, outcome: Exclude<Outcome, 'answered'>): void {
    const { status, says } = outcomes[outcome]
    stream.respond({
      ':status': status,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...(outcome === 'badMethod' ? { allow: 'GET, POST' } : {}),
    })
    stream.end(says)
    // What is left of its body is not read.
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
  }
}
