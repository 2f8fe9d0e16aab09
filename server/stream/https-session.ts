// The requests of one connection of DNS over HTTPS: HTTP/2, over TLS that is established.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Http2Engine, Http2Error } from '#system/http2/http2-session.ts'
import type { Http2Listener, Http2Session, KnownHeader } from '#system/http2/http2-session.ts'
import { freshSeconds } from './freshness.ts'
import { httpsLimits } from './https-limits.ts'
import { checked, dnsMessageType, outcomes, readRequest } from './https-request.ts'
import type { HttpsCounts, Outcome, RequestHeaders } from './https-request.ts'
import type { BeginHttps, Conversation, ConversationParts } from './tcp-connection.ts'
import { tcpMessageBytesMax } from './tcp-limits.ts'
import type { TurnWriter } from './turn-end.ts'

/** A request that is open. */
interface Open {
  readonly stream: number
  sinceMs: number
  readonly headers: RequestHeaders
  /** Headers that come now are trailers. */
  isRead: boolean
  /** All of it has come. */
  isWhole: boolean
  isAnswered: boolean
  hasBody: boolean
  /** Has room beyond `bodyBytes`. */
  body: Uint8Array
  bodyBytes: number
  /** What its reply has, while not all of it is sent. */
  replyBytes: number
}

type Asked = Uint8Array | Exclude<Outcome, 'answered'>

const never = -1
const nothing = Buffer.alloc(0)
const { bodiesBytesMax, idleBytesMax, headerBytesMax } = httpsLimits
const { controlFramesMax, repliesBytesMax, invalidFramesMax, rejectedStreamsMax } = httpsLimits

/**
 * What makes a listener one of DNS over HTTPS.
 *
 * @param counts are counted up
 * @param nowMs the time of day
 * @returns a sentence where Node's HTTP/2 cannot be called
 */
export function httpsAt(
  path: string,
  counts: HttpsCounts,
  nowMs: () => number,
): Result<BeginHttps, string> {
  const date = new DateField(nowMs)
  try {
    const engine = new Http2Engine(httpsLimits)
    return ok((parts) => new HttpsSession(parts, { path, counts, engine, date }))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return err(
      `DNS over HTTPS cannot be served: the HTTP/2 of this Node (${process.version}) cannot be called: ${why}. Use a Node of nodejs.org or of your distribution, or set dns.https.enabled to false`,
    )
  }
}

interface Site {
  readonly path: string
  readonly counts: HttpsCounts
  readonly engine: Http2Engine
  readonly date: DateField
}

/** RFC 9110 section 6.6.1. */
class DateField {
  readonly #nowMs: () => number
  #second = never
  #text = ''

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get text(): string {
    const nowMs = this.#nowMs()
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) this.#text = new Date(nowMs).toUTCString()
    this.#second = second
    return this.#text
  }
}

class HttpsSession implements Conversation, Http2Listener, TurnWriter {
  readonly #parts: ConversationParts
  readonly #site: Site
  readonly #http2: Http2Session
  readonly #open = new Map<number, Open>()
  /** Whose headers come. */
  #heard: Open | undefined
  /** Requests that wait until the replies before them have gone out. */
  readonly #held: Open[] = []
  /** Streams whose reply has gone out before their request had ended. */
  readonly #cut: number[] = []
  #bodiesBytes = 0
  #repliesBytes = 0
  #controlFrames = 0
  #invalidFrames = 0
  #rejectedStreams = 0
  /** Octets that had come at the last look, and requests that have ended since. */
  #seenBytes: number
  #ended = 0
  #lastActiveMs: number
  #finishedAtMs = never
  #isFlooding = false
  /** Something may be to send at the end of this turn. */
  #isWaiting = false

  constructor(parts: ConversationParts, site: Site) {
    this.#parts = parts
    this.#site = site
    const { socket, plain, shared } = parts
    this.#seenBytes = plain.bytesRead
    this.#lastActiveMs = shared.nowMs()
    this.#http2 = site.engine.open(this)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('drain', () => {
      socket.resume()
      this.endTurn()
    })
    socket.on('end', () => this.finish())
    socket.on('close', () => this.#http2.free())
    this.#sendSoon()
  }

  /** No request is open, and no reply lies in the socket. */
  get isIdle(): boolean {
    const { writableLength } = this.#parts.socket
    return this.#open.size === 0 && writableLength === 0 && this.#finishedAtMs === never
  }

  /** Takes no more requests, and closes when the open ones are answered. */
  finish(): void {
    if (this.#finishedAtMs !== never) return
    this.#finishedAtMs = this.#parts.shared.nowMs()
    this.#http2.finish()
    this.#sendSoon()
  }

  /** Closes a connection whose answers have gone out, when its client has had time to do so. */
  leave(nowMs: number): void {
    const { socket, shared } = this.#parts
    if (this.#finishedAtMs === never || !socket.writableFinished) return
    if (nowMs - this.#finishedAtMs >= shared.limits.lingerMs) socket.destroy()
  }

  /** Closes the connection when one of its times is over, or much came that is no request. */
  expire(nowMs: number): void {
    const { limits, stats } = this.#parts.shared
    if (!this.#parts.socket.writableEnded && this.#isFlooded()) return this.#endFlood()
    for (const { sinceMs, isAnswered } of this.#open.values()) {
      const patienceMs = isAnswered ? limits.writeTimeoutMs : limits.messageTimeoutMs
      if (nowMs - sinceMs < patienceMs) continue
      if (isAnswered) stats.writeTimeouts++
      else stats.messageTimeouts++
      return this.#destroy()
    }
    if (this.#finishedAtMs !== never) {
      if (nowMs - this.#finishedAtMs >= limits.writeTimeoutMs) this.#destroy()
    } else if (this.isIdle) {
      if (nowMs - this.#lastActiveMs < limits.idleTimeoutMs) return
      stats.idleTimeouts++
      this.finish()
    } else if (this.#open.size === 0 && nowMs - this.#lastActiveMs >= limits.writeTimeoutMs) {
      stats.writeTimeouts++
      this.#destroy()
    }
  }

  #destroy(): void {
    this.#parts.socket.destroy()
  }

  #take(chunk: Buffer): void {
    // What comes after our end is read, so that the end of the client is seen, and no more.
    if (this.#parts.socket.writableEnded) return
    try {
      const goesOn = this.#http2.take(chunk)
      if (this.#isFlooding) return this.#endFlood()
      if (!goesOn) return this.#destroy()
      this.#sendSoon()
    } catch {
      this.#fail()
    }
  }

  /** A fault of ours costs this connection, not the others of its thread. */
  #fail(): void {
    this.#parts.shared.stats.failures++
    this.#destroy()
  }

  #sendSoon(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#parts.shared.turnEnd.add(this)
  }

  /** Sends what waits: all that came in this turn is answered by one write. */
  endTurn(): void {
    this.#isWaiting = false
    const { socket } = this.#parts
    if (socket.destroyed || socket.writableEnded) return
    try {
      this.#send()
    } catch {
      return this.#fail()
    }
    // A client that does not read its replies is not read.
    if (socket.writableNeedDrain) socket.pause()
    const isDone = this.#finishedAtMs !== never && this.#open.size === 0
    if (isDone || this.#http2.isOver) this.#close()
  }

  #send(): void {
    const { socket } = this.#parts
    while (!socket.writableNeedDrain) {
      this.#settle()
      const octets = this.#http2.output()
      if (octets === undefined) break
      socket.write(octets)
    }
  }

  /** What could not be done while nghttp2 ran. */
  #settle(): void {
    for (const stream of this.#cut.splice(0)) {
      if (this.#open.has(stream)) this.#http2.reset(stream, Http2Error.None)
    }
    while (this.#held.length > 0 && this.#repliesBytes < repliesBytesMax) {
      const held = this.#held.shift()!
      if (this.#open.has(held.stream) && !held.isAnswered) this.#reply(held, held.body)
    }
  }

  #close(): void {
    const { socket, shared } = this.#parts
    if (this.#finishedAtMs === never) this.#finishedAtMs = shared.nowMs()
    // What is queued goes first.
    socket.end()
    socket.resume()
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
    const { socket, shared } = this.#parts
    if (socket.writableEnded) return
    this.#finishedAtMs = shared.nowMs()
    this.#site.counts.floods++
    this.#http2.terminate(Http2Error.EnhanceYourCalm)
    const why = this.#http2.output()
    if (why !== undefined) socket.write(why)
    socket.destroySoon()
  }

  onControl(): boolean {
    this.#isFlooding ||= ++this.#controlFrames > controlFramesMax
    return !this.#isFlooding
  }

  onRefused(): boolean {
    this.#isFlooding ||= ++this.#rejectedStreams > rejectedStreamsMax
    return !this.#isFlooding
  }

  onInvalid(): boolean {
    this.#isFlooding ||= ++this.#invalidFrames > invalidFramesMax
    return !this.#isFlooding
  }

  onBegin(stream: number): boolean {
    this.#heard = this.#open.get(stream)
    if (this.#heard !== undefined) return true
    if (this.#finishedAtMs !== never) return false
    const sinceMs = this.#parts.shared.nowMs()
    this.#heard = {
      ...{ stream, sinceMs, headers: {}, body: nothing, bodyBytes: 0, replyBytes: 0 },
      ...{ isRead: false, isWhole: false, isAnswered: false, hasBody: false },
    }
    this.#open.set(stream, this.#heard)
    return true
  }

  onHeader(name: KnownHeader, value: string): void {
    const open = this.#heard
    if (open !== undefined && !open.isRead) open.headers[name] ??= value
  }

  onHeaders(stream: number): void {
    const open = this.#open.get(stream)
    if (open === undefined || open.isRead) return
    open.isRead = true
    const asked = readRequest(open.headers, this.#site.path)
    if (asked === 'body') open.hasBody = true
    else this.#hold(open, asked)
  }

  onBody(stream: number, octets: Uint8Array): void {
    const open = this.#open.get(stream)
    if (open === undefined || !open.hasBody || open.isAnswered) return
    const { body, bodyBytes } = open
    open.bodyBytes += octets.length
    this.#bodiesBytes += octets.length
    const isTooLarge = open.bodyBytes > tcpMessageBytesMax || this.#bodiesBytes > bodiesBytesMax
    if (isTooLarge) return this.#reply(open, 'tooLarge')
    // One piece each: as pieces, octets that come one by one would take a hundred times their room.
    if (open.bodyBytes > body.length) {
      open.body = Buffer.allocUnsafe(Math.max(open.bodyBytes, 2 * body.length))
      open.body.set(body.subarray(0, bodyBytes))
    }
    open.body.set(octets, bodyBytes)
  }

  onEnd(stream: number): void {
    const open = this.#open.get(stream)
    if (open === undefined) return
    open.isWhole = true
    if (!open.hasBody || open.isAnswered) return
    this.#hold(open, checked(open.body.subarray(0, open.bodyBytes)))
  }

  onReplied(stream: number): void {
    // What is left of its body is not read. RFC 9113 section 8.1.
    if (this.#open.get(stream)?.isWhole === false) this.#cut.push(stream)
  }

  onClose(stream: number): void {
    const open = this.#open.get(stream)
    if (open === undefined) return
    this.#open.delete(stream)
    this.#ended++
    this.#letGo(open)
    this.#repliesBytes -= open.replyBytes
    this.#lastActiveMs = this.#parts.shared.nowMs()
  }

  #letGo(open: Open): void {
    this.#bodiesBytes -= open.bodyBytes
    open.bodyBytes = 0
    open.body = nothing
  }

  /** A client that opens no window has replies up to a bound, and then its requests wait. */
  #hold(open: Open, asked: Asked): void {
    if (typeof asked === 'string' || this.#repliesBytes < repliesBytesMax) {
      return this.#reply(open, asked)
    }
    this.#letGo(open)
    open.body = asked
    open.bodyBytes = asked.length
    this.#bodiesBytes += asked.length
    if (this.#bodiesBytes > bodiesBytesMax) this.#reply(open, 'tooLarge')
    else this.#held.push(open)
  }

  #reply(open: Open, asked: Asked): void {
    const { shared, onActive } = this.#parts
    this.#controlFrames = 0
    open.isAnswered = true
    open.sinceMs = shared.nowMs()
    this.#letGo(open)
    const answered = typeof asked === 'string' ? asked : this.#answer(asked)
    const outcome = typeof answered === 'string' ? answered : 'answered'
    this.#site.counts[outcome]++
    if (typeof answered === 'string') this.#refuse(open, answered)
    else {
      open.replyBytes = answered.length
      this.#repliesBytes += answered.length
      this.#respond(open.stream, answered)
    }
    onActive()
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

  #respond(stream: number, reply: Buffer): void {
    const fields = [
      [':status', '200'],
      ['content-type', dnsMessageType],
      ['content-length', String(reply.length)],
      // An answer may go by the client's address: caches that several clients share keep none.
      ['cache-control', `private, max-age=${freshSeconds(reply)}`],
      ['date', this.#site.date.text],
    ] as const
    this.#http2.respond(stream, fields, reply)
  }

  #refuse({ stream, headers }: Open, outcome: Exclude<Outcome, 'answered'>): void {
    const { status, says } = outcomes[outcome]
    const fields = [
      [':status', String(status)],
      ['content-type', 'text/plain; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['date', this.#site.date.text],
      ...(outcome === 'badMethod' ? ([['allow', 'GET, POST']] as const) : []),
    ] as const
    const body = headers[':method'] === 'HEAD' ? nothing : Buffer.from(says)
    this.#http2.respond(stream, fields, body)
  }
}
