// Encodes and decodes the `string` and `uint32` of RFC 4251 section 5, for SSH keys and signatures.

/**
 * Reads from untrusted bytes; undefined means "ends too early", and every later read is undefined
 * too.
 */
export class SshReader {
  readonly #bytes: Buffer
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  uint32(): number | undefined {
    const bytes = this.raw(4)
    return bytes?.readUInt32BE(0)
  }

  raw(length: number): Buffer | undefined {
    if (length > this.#bytes.length - this.#offset) {
      this.#offset = this.#bytes.length + 1
      return undefined
    }
    this.#offset += length
    return this.#bytes.subarray(this.#offset - length, this.#offset)
  }

  /** A copy is not made: the result is a view. */
  string(): Buffer | undefined {
    const length = this.uint32()
    return length === undefined ? undefined : this.raw(length)
  }

  text(): string | undefined {
    return this.string()?.toString('utf8')
  }

  get atEnd(): boolean {
    return this.#offset === this.#bytes.length
  }
}

export function sshUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function sshString(value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([sshUint32(bytes.length), bytes])
}

/** PEM-like armor: base64 in lines of 70, as ssh-keygen writes it. */
export function armor(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,70}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/**
 * @returns undefined when `text` is not exactly one such block of at most `bytesMax` characters.
 */
export function unarmor(label: string, text: string, bytesMax: number): Buffer | undefined {
  if (text.length > bytesMax) return undefined
  const lines = text.replaceAll('\r\n', '\n').trim().split('\n')
  if (lines.shift() !== `-----BEGIN ${label}-----`) return undefined
  if (lines.pop() !== `-----END ${label}-----`) return undefined
  const body = lines.join('')
  return isBase64(body) ? Buffer.from(body, 'base64') : undefined
}

/** Node decodes what it can and drops the rest; a signature must not have two spellings. */
export function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}
