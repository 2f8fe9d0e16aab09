// The client's side of DNS over HTTPS as octets: requests with headers as short as any client makes
// them, and a reader that counts replies. RFC 9113, RFC 7541. A client of node:http2 costs as much
// as the server that it is to measure.

const FrameType = { Data: 0, Headers: 1, Settings: 4, WindowUpdate: 8 } as const
const Flag = { EndStream: 1, Ack: 1, EndHeaders: 4 } as const
const frameHeadBytes = 9
/** Window of a connection and of each stream: no reply waits for it. */
const windowBytes = 0x3fff_ffff
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const initialWindow = 4
const statusOk = 0x88

export const httpsMethods = Object.freeze(['GET', 'POST'] as const)
export type HttpsMethod = (typeof httpsMethods)[number]

/** Entries of RFC 7541 appendix A, and the first one that a sender adds. */
const Table = {
  Authority: 1,
  Get: 2,
  Post: 3,
  Path: 4,
  Https: 7,
  Accept: 19,
  ContentLength: 28,
  ContentType: 31,
  Added: 62,
} as const

const messageType = 'application/dns-message'

/** What opens a connection: the preface, settings, and a window that does not end. */
export function opening(): Buffer {
  const settings = Buffer.alloc(6)
  settings.writeUInt16BE(initialWindow, 0)
  settings.writeUInt32BE(windowBytes, 2)
  const window = Buffer.alloc(4)
  window.writeUInt32BE(windowBytes, 0)
  return Buffer.concat([
    Buffer.from(preface),
    frame(FrameType.Settings, 0, 0, settings),
    frame(FrameType.WindowUpdate, 0, 0, window),
  ])
}

export const settingsAck = frame(FrameType.Settings, Flag.Ack, 0, Buffer.alloc(0))

/** Requests of one connection, which all ask the same. */
export class HttpsRequests {
  readonly #first: Buffer
  readonly #next: Buffer
  /** Behind the headers; empty: there is no body. */
  readonly #body: Buffer
  #stream = -1

  constructor(method: HttpsMethod, path: string, query: Uint8Array) {
    const isGet = method === 'GET'
    this.#body = isGet ? Buffer.alloc(0) : Buffer.from(query)
    const target = isGet ? `${path}?dns=${Buffer.from(query).toString('base64url')}` : path
    // Names that begin with a colon come first. RFC 9113 section 8.3.
    const fields: (readonly [number, string])[] = [
      [Table.Authority, 'ns.example'],
      ...(isGet ? [] : [[Table.Path, path] as const]),
      [Table.Accept, messageType],
    ]
    if (!isGet) {
      fields.push([Table.ContentType, messageType])
      fields.push([Table.ContentLength, String(query.length)])
    }
    const known = [indexed(isGet ? Table.Get : Table.Post), indexed(Table.Https)]
    // The path of a GET differs from question to question: nobody adds it to the table.
    const own = isGet ? [literal(Table.Path, target)] : []
    const first = fields.map(([name, value]) => added(name, value))
    // What was added last has the lowest number.
    const again = fields.map((_, i) => indexed(Table.Added + fields.length - 1 - i))
    this.#first = Buffer.concat([...known, ...own, ...first])
    this.#next = Buffer.concat([...known, ...own, ...again])
  }

  /** The next request. */
  next(): Buffer {
    const headers = this.#stream < 0 ? this.#first : this.#next
    this.#stream += 2
    const hasBody = this.#body.length > 0
    const flags = Flag.EndHeaders | (hasBody ? 0 : Flag.EndStream)
    const head = frame(FrameType.Headers, flags, this.#stream, headers)
    if (!hasBody) return head
    return Buffer.concat([head, frame(FrameType.Data, Flag.EndStream, this.#stream, this.#body)])
  }
}

/** Reads what a server sends on one connection. */
export class HttpsReplies {
  /** Replies that have ended, and those of them that are 200. */
  ended = 0
  good = 0
  #rest: Buffer = Buffer.alloc(0)
  readonly #onSettings: () => void

  constructor(onSettings: () => void) {
    this.#onSettings = onSettings
  }

  take(chunk: Buffer): void {
    const octets = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (at + frameHeadBytes <= octets.length) {
      const end = at + frameHeadBytes + octets.readUIntBE(at, 3)
      if (end > octets.length) break
      const flags = octets[at + 4]!
      const type = octets[at + 3]!
      if (type === FrameType.Headers) {
        // What comes first says that a table has another size.
        let status = at + frameHeadBytes
        while ((octets[status]! & 0xe0) === 0x20) status++
        if (octets[status] === statusOk) this.good++
      }
      const isOfStream = type === FrameType.Headers || type === FrameType.Data
      if (isOfStream && (flags & Flag.EndStream) !== 0) this.ended++
      if (type === FrameType.Settings && (flags & Flag.Ack) === 0) this.#onSettings()
      at = end
    }
    this.#rest = at === octets.length ? Buffer.alloc(0) : Buffer.from(octets.subarray(at))
  }
}

/** RFC 9113 section 4.1. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const octets = Buffer.alloc(frameHeadBytes + payload.length)
  octets.writeUIntBE(payload.length, 0, 3)
  octets[3] = type
  octets[4] = flags
  octets.writeUInt32BE(stream, 5)
  octets.set(payload, frameHeadBytes)
  return octets
}

/** RFC 7541 section 6.1. */
const indexed = (entry: number): Buffer => Buffer.of(0x80 | entry)
/** RFC 7541 sections 6.2.1 and 6.2.2. */
const added = (name: number, value: string): Buffer =>
  Buffer.concat([Buffer.of(0x40 | name), text(value)])
const literal = (name: number, value: string): Buffer =>
  Buffer.concat([Buffer.of(name), text(value)])

/** Fields by their names, which no table keeps. RFC 7541 section 6.2.2. */
export const fieldBlock = (fields: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))

/** RFC 7541 section 5.2, without Huffman code. */
function text(value: string): Buffer {
  const most = 0x7f
  if (value.length < most) return Buffer.concat([Buffer.of(value.length), Buffer.from(value)])
  const more = value.length - most
  const length = more < 128 ? [most, more] : [most, (more & 127) | 128, more >> 7]
  return Buffer.concat([Buffer.of(...length), Buffer.from(value)])
}
