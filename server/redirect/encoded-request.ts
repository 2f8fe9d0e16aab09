// Percent-encodes the octets in the path of a request that the parser of HTTP refuses.
import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'

/** The error of the parser about a request that it refuses. */
export interface ParseError {
  readonly code?: string | undefined
  /** Octets of `rawPacket` before the one that it refuses. */
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** One expression for both would try each octet as the first raw one. */
const requestLine = /^[A-Z]+ [^ ]+ HTTP\/1\.[01]$/
const rawOctet = /[\x80-\xff]/

/**
 * Returns the request as it should have been sent (RFC 3986 section 2.5), to be answered alone:
 * browsers encode paths, many other clients do not. A request that came in several pieces is not
 * examined.
 *
 * @returns undefined when something else is wrong with it
 */
export function encodedRequest({ code, bytesParsed, rawPacket }: ParseError): Buffer | undefined {
  if (code !== 'HPE_INVALID_URL' || rawPacket === undefined) return undefined
  const text = rawPacket.toString('latin1')
  // A packet may begin with requests that were answered.
  const start = text.lastIndexOf('\n', Math.max(0, (bytesParsed ?? 0) - 1)) + 1
  const end = text.indexOf('\r\n', start)
  const last = text.indexOf('\r\n\r\n', start)
  if (end === -1 || last === -1) return undefined
  const line = text.slice(start, end)
  if (!rawOctet.test(line) || !requestLine.test(line)) return undefined
  const encoded = line.replaceAll(/[\x80-\xff]/g, (octet) => {
    return `%${octet.charCodeAt(0).toString(16).toUpperCase()}`
  })
  const rest = text.slice(end, last)
  return Buffer.from(`${encoded}\r\nConnection: close${rest}\r\n\r\n`, 'latin1')
}

/** Stands in for the socket on which the request came: writes go to that socket. */
export class EncodedConnection extends Duplex {
  readonly #socket: Duplex
  readonly #request: Buffer

  constructor(socket: Duplex, request: Buffer) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    this.#request = request
    socket.once('close', () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return (this.#socket as Socket).remoteAddress
  }

  override _read(): void {
    this.push(this.#request)
    this._read = () => undefined
  }

  override _write(octets: Buffer, encoding: BufferEncoding, done: () => void): void {
    this.#socket.write(octets, encoding, () => done())
  }

  override _final(done: () => void): void {
    this.#socket.end(() => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}
