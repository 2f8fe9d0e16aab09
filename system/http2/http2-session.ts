// Servers' sessions of HTTP/2 by nghttp2: octets in, requests out, and back. Frames, streams and
// the compression of headers are nghttp2's. Node's own streams cost several times as much.
import { assert } from '#lib/assert.ts'
import {
  bindNghttp2,
  bodyEnds,
  Entry,
  Field,
  FrameHead,
  Nghttp2Error,
  Provider,
  refusedStream,
} from './nghttp2.ts'
import type { Nghttp2 } from './nghttp2.ts'

/** RFC 9113 section 7. */
export const Http2Error = { None: 0, Internal: 2, RefusedStream: 7, EnhanceYourCalm: 11 } as const
/** RFC 9113 section 6. */
const FrameType = { Data: 0, Headers: 1, Settings: 4, Ping: 6 } as const
const endOfStream = 1
/** RFC 9113 section 6.5.2. */
const Setting = { StreamsMax: 3, HeaderBytesMax: 6 } as const
const headerOverheadBytes = 32

const knownHeaders = [':method', ':path', 'content-type', 'content-length'] as const
export type KnownHeader = (typeof knownHeaders)[number]

interface Http2Limits {
  readonly streamsMax: number
  /** Names and values, with 32 octets for each pair. */
  readonly headerBytesMax: number
  readonly headersMax: number
  /** Streams that may be reset at once, and then each second. */
  readonly resetsAtOnce: number
  readonly resetsPerSecond: number
}

/**
 * Told of what comes, inside `take`, and of streams that end, inside `output` as well. May answer
 * there, but for `onClose`; must not call `take`, `output` and `free`.
 */
export interface Http2Listener {
  /** Headers begin. @returns false: the stream is refused */
  readonly onBegin: (stream: number) => boolean
  readonly onHeader: (name: KnownHeader, value: string) => void
  readonly onHeaders: (stream: number) => void
  /** `octets` are those of the engine, and hold until this returns. */
  readonly onBody: (stream: number, octets: Uint8Array) => void
  /** All of the request has come. */
  readonly onEnd: (stream: number) => void
  /** A whole reply is on its way. */
  readonly onReplied: (stream: number) => void
  readonly onClose: (stream: number) => void
  /** A PING or SETTINGS. @returns false: the session ends */
  readonly onControl: () => boolean
  /** A stream beyond `streamsMax`, which is refused. @returns false: the session ends */
  readonly onRefused: () => boolean
  /** A frame that breaks the protocol. @returns false: the session ends */
  readonly onInvalid: () => boolean
}

interface Reply {
  readonly octets: Uint8Array
  sent: number
}

/** What one frame has at most, with its head: a peer's larger frames are not used. */
const frameBytesMax = 16_384 + 9
/** Fields of one response. */
const fieldsMax = 8
const slotBytes = 64
/** Where things lie in the memory of an engine. */
const entriesAt = slotBytes
const providerAt = entriesAt + 2 * Entry.Bytes
const endsAt = providerAt + Provider.Bytes
const fieldsAt = endsAt + 16
const textsAt = fieldsAt + fieldsMax * Field.Bytes
const textBytesMax = 2_048
const scratchAt = textsAt + textBytesMax
const outAt = scratchAt + frameBytesMax
const outBytesMax = 65_536 + frameBytesMax
const high = 0x1_0000_0000

/** What the sessions of one thread share: functions, and memory that nghttp2 reads and writes. */
interface Core {
  readonly limits: Http2Limits
  readonly native: Nghttp2
  readonly memory: Buffer
  readonly base: number
  /** What is called back belongs to this one: calls do not nest. */
  active: Http2Session | undefined
  /** What a listener has thrown: through nghttp2 it would be lost. */
  fault: { readonly error: unknown } | undefined
}

/** Opens sessions; one for each thread. */
export class Http2Engine {
  readonly #core: Core

  /** @throws where there is no koffi, or no nghttp2 in Node */
  constructor(limits: Http2Limits) {
    // V8 does not move more than 64 octets.
    const memory = Buffer.alloc(outAt + outBytesMax)
    const to =
      (call: (session: Http2Session, ...values: number[]) => number) =>
      (_session: number, ...values: number[]): number => {
        try {
          return call(core.active!, ...values)
        } catch (error) {
          core.fault ??= { error }
          return Nghttp2Error.CallbackFailure
        }
      }
    const on = {
      on_begin_headers: to((session, frame) => session.hearBegin(frame)),
      on_header: to((session, _frame, ...place) => session.hearHeader(place)),
      on_invalid_header: to((session, _frame, ...place) => session.hearInvalidHeader(place)),
      on_frame_recv: to((session, frame) => session.hearFrame(frame)),
      on_data_chunk_recv: to((session, _flags, ...place) => session.hearBody(place)),
      on_stream_close: to((session, stream) => session.hearClose(stream)),
      on_invalid_frame_recv: to((session, _frame, error) => session.hearInvalid(error)),
    }
    const onRead = to((session, ...place) => session.readReply(place))
    const resets = { atOnce: limits.resetsAtOnce, perSecond: limits.resetsPerSecond }
    const native = bindNghttp2(on, onRead, resets, memory)
    const base = native.addressOf(memory)
    const core: Core = { limits, native, memory, base, active: undefined, fault: undefined }
    writeAddress(memory, providerAt + Provider.Read, native.bodyReader)
    memory.writeUInt32LE(bodyEnds, endsAt)
    memory.writeInt32LE(Setting.StreamsMax, entriesAt + Entry.Id)
    memory.writeUInt32LE(limits.streamsMax, entriesAt + Entry.Value)
    memory.writeInt32LE(Setting.HeaderBytesMax, entriesAt + Entry.Bytes + Entry.Id)
    memory.writeUInt32LE(limits.headerBytesMax, entriesAt + Entry.Bytes + Entry.Value)
    this.#core = core
  }

  open(listener: Http2Listener): Http2Session {
    return new Http2Session(this.#core, listener)
  }
}

/** One connection. Methods that begin with `hear` or `read` are nghttp2's to call. */
export class Http2Session {
  readonly #core: Core
  readonly #listener: Http2Listener
  readonly #replies = new Map<number, Reply>()
  /** 0: it is freed. */
  #session: number
  /** nghttp2 has given it up: it must not be given octets any more. */
  #isFailed = false
  /** nghttp2 did not take, or could not make, what is to be sent. */
  #isMute = false
  /** The stream whose headers come, and what they have so far. */
  #stream = 0
  #headerBytes = 0
  #headers = 0

  constructor(core: Core, listener: Http2Listener) {
    this.#core = core
    this.#listener = listener
    const { native, memory, base } = core
    // Without memory it is over before it begins.
    this.#session = native.open(base) === 0 ? readAddress(memory, 0) : 0
    if (this.#session === 0) return
    this.#submitted(native.settings(this.#session, 0, base + entriesAt, 2))
  }

  /** @returns false: the session is over */
  take(octets: Uint8Array): boolean {
    if (this.#session === 0 || this.#isFailed) return false
    this.#isFailed = true
    const received = this.#call((native) => native.receive(this.#session, octets, octets.length))
    this.#isFailed = received < 0
    return !this.#isFailed
  }

  /** @returns what is to be sent; undefined: nothing, until something comes or is answered */
  output(): Buffer | undefined {
    if (this.#session === 0 || this.#isMute) return undefined
    const used = this.#call(() => this.#gather())
    return used === 0 ? undefined : Buffer.from(this.#core.memory.subarray(outAt, outAt + used))
  }

  /** Nothing more is read: it has ended, or it was ended. */
  get isOver(): boolean {
    if (this.#session === 0 || this.#isMute) return true
    return this.#core.native.wantsRead(this.#session) === 0
  }

  /**
   * A stream that takes no reply, as one that was answered before, is reset.
   *
   * @param fields names in small letters, at most 8 in 2 KiB. `body` is not to be changed.
   */
  respond(
    stream: number,
    fields: readonly (readonly [name: string, value: string])[],
    body: Uint8Array,
  ): void {
    if (this.#session === 0) return
    // nghttp2 1.70 takes a second reply, and sends both.
    if (this.#replies.has(stream)) return this.reset(stream, Http2Error.Internal)
    const { native, base } = this.#core
    this.#writeFields(fields)
    this.#replies.set(stream, { octets: body, sent: 0 })
    const place = [base + fieldsAt, fields.length, base + providerAt] as const
    if (native.respond(this.#session, stream, ...place) === 0) return
    this.#replies.delete(stream)
    this.reset(stream, Http2Error.Internal)
  }

  /** Ends a stream. */
  reset(stream: number, code: number): void {
    if (this.#session === 0) return
    this.#submitted(this.#core.native.reset(this.#session, 0, stream, code))
  }

  /** Takes no more requests; those that have begun may be answered. */
  finish(): void {
    if (this.#session === 0) return
    const { native } = this.#core
    const last = native.lastStream(this.#session)
    this.#submitted(native.goAway(this.#session, 0, last, Http2Error.None, 0, 0))
  }

  /** Ends at once: only why is still to be sent. */
  terminate(code: number): void {
    if (this.#session === 0) return
    this.#submitted(this.#core.native.terminate(this.#session, code))
  }

  /** Gives its memory back; it is over. */
  free(): void {
    if (this.#session === 0) return
    assert(this.#core.active === undefined, 'no session is freed while nghttp2 runs')
    this.#core.native.free(this.#session)
    this.#session = 0
    this.#replies.clear()
  }

  /** What a peer is to know and is not told ends the session. */
  #submitted(result: number): void {
    this.#isMute ||= result < 0
  }

  #call(what: (native: Nghttp2) => number): number {
    const core = this.#core
    assert(core.active === undefined, 'calls of nghttp2 do not nest')
    core.active = this
    try {
      const result = what(core.native)
      if (core.fault !== undefined) throw core.fault.error
      return result
    } finally {
      core.active = undefined
      core.fault = undefined
    }
  }

  #gather(): number {
    const { native, memory, base } = this.#core
    let used = 0
    while (used + frameBytesMax <= outBytesMax) {
      const bytes = native.send(this.#session, base)
      this.#submitted(bytes)
      if (bytes <= 0) break
      assert(bytes <= frameBytesMax, 'a frame is not longer than its bound')
      native.copy(base + outAt + used, readAddress(memory, 0), bytes)
      used += bytes
    }
    return used
  }

  #writeFields(fields: readonly (readonly [string, string])[]): void {
    assert(fields.length <= fieldsMax, 'a response has few fields')
    const { memory, base } = this.#core
    let at = textsAt
    let field = fieldsAt
    for (const [name, value] of fields) {
      assert(at + name.length + value.length <= scratchAt, 'the fields of a response are short')
      const nameBytes = memory.write(name, at, 'latin1')
      const valueBytes = memory.write(value, at + nameBytes, 'latin1')
      writeAddress(memory, field + Field.Name, base + at)
      writeAddress(memory, field + Field.Value, base + at + nameBytes)
      writeAddress(memory, field + Field.NameBytes, nameBytes)
      writeAddress(memory, field + Field.ValueBytes, valueBytes)
      memory[field + Field.Flags] = 0
      at += nameBytes + valueBytes
      field += Field.Bytes
    }
  }

  /** Copies octets of nghttp2 to the scratch memory. */
  #peek(from: number, bytes: number): void {
    assert(bytes <= frameBytesMax, 'what nghttp2 gives has a bound')
    const { native, base } = this.#core
    native.copy(base + scratchAt, from, bytes)
  }

  #text(from: number, bytes: number): string {
    this.#peek(from, bytes)
    return this.#core.memory.toString('latin1', scratchAt, scratchAt + bytes)
  }

  hearBegin(frame: number): number {
    this.#peek(frame, FrameHead.Bytes)
    this.#stream = this.#core.memory.readInt32LE(scratchAt + FrameHead.Stream)
    this.#headerBytes = 0
    this.#headers = 0
    return this.#listener.onBegin(this.#stream) ? 0 : this.#refuse(Http2Error.RefusedStream)
  }

  hearHeader([name = 0, nameBytes = 0, value = 0, valueBytes = 0]: readonly number[]): number {
    if (this.#isTooMuch(nameBytes + valueBytes)) return this.#refuse(Http2Error.EnhanceYourCalm)
    for (const known of knownHeaders) {
      if (known.length !== nameBytes) continue
      if (this.#text(name, nameBytes) !== known) return 0
      this.#listener.onHeader(known, this.#text(value, valueBytes))
      return 0
    }
    return 0
  }

  /** A field that no request may have is passed over; nghttp2 refuses the stream of many. */
  hearInvalidHeader([, nameBytes = 0, , valueBytes = 0]: readonly number[]): number {
    return this.#isTooMuch(nameBytes + valueBytes) ? Nghttp2Error.TemporalFailure : 0
  }

  #isTooMuch(fieldBytes: number): boolean {
    const { headerBytesMax, headersMax } = this.#core.limits
    this.#headerBytes += fieldBytes + headerOverheadBytes
    return this.#headerBytes > headerBytesMax || ++this.#headers > headersMax
  }

  #refuse(code: number): number {
    this.reset(this.#stream, code)
    return Nghttp2Error.TemporalFailure
  }

  hearFrame(frame: number): number {
    this.#peek(frame, FrameHead.Bytes)
    const { memory } = this.#core
    const stream = memory.readInt32LE(scratchAt + FrameHead.Stream)
    const type = memory[scratchAt + FrameHead.Type]
    const ends = (memory[scratchAt + FrameHead.Flags]! & endOfStream) !== 0
    if (type === FrameType.Headers) this.#listener.onHeaders(stream)
    if ((type === FrameType.Headers || type === FrameType.Data) && ends) {
      this.#listener.onEnd(stream)
    }
    const isControl = type === FrameType.Settings || type === FrameType.Ping
    return isControl && !this.#listener.onControl() ? Nghttp2Error.CallbackFailure : 0
  }

  hearBody([stream = 0, from = 0, bytes = 0]: readonly number[]): number {
    this.#peek(from, bytes)
    this.#listener.onBody(stream, this.#core.memory.subarray(scratchAt, scratchAt + bytes))
    return 0
  }

  hearClose(stream: number): number {
    this.#replies.delete(stream)
    this.#listener.onClose(stream)
    return 0
  }

  hearInvalid(error: number): number {
    const isRefused = error === refusedStream
    const goesOn = isRefused ? this.#listener.onRefused() : this.#listener.onInvalid()
    return goesOn ? 0 : Nghttp2Error.CallbackFailure
  }

  readReply([stream = 0, to = 0, bytesMax = 0, flags = 0]: readonly number[]): number {
    const reply = this.#replies.get(stream)
    if (reply === undefined) return Nghttp2Error.CallbackFailure
    const { native, base } = this.#core
    const { octets, sent } = reply
    const bytes = Math.min(bytesMax, octets.length - sent)
    native.copyFrom(to, sent === 0 ? octets : octets.subarray(sent), bytes)
    reply.sent += bytes
    if (reply.sent < octets.length) return bytes
    native.copy(flags, base + endsAt, 4)
    this.#replies.delete(stream)
    this.#listener.onReplied(stream)
    return bytes
  }
}

/** Numbers of eight octets: addresses, and sizes. */
function writeAddress(memory: Buffer, at: number, address: number): void {
  memory.writeUInt32LE(address % high, at)
  memory.writeUInt32LE(Math.floor(address / high), at + 4)
}

function readAddress(memory: Buffer, at: number): number {
  return memory.readUInt32LE(at) + memory.readUInt32LE(at + 4) * high
}
