// Encodes and decodes the `string` and `uint32` of RFC 4251 section 5, for SSH keys and signatures.

/** Reads untrusted octets. After an early end this and every later read is undefined. */
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

  /** @returns a view, not a copy */
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

/** Formats an armor as ssh-keygen does: base64 in lines of 70 between PEM-like labels. */
export function armor(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,70}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/** @returns undefined unless `text` is exactly one such block, of at most `bytesMax` characters */
export function unarmor(label: string, text: string, bytesMax: number): Buffer | undefined {
  if (text.length > bytesMax) return undefined
  const lines = text.replaceAll('\r\n', '\n').trim().split('\n')
  if (lines.shift() !== `-----BEGIN ${label}-----`) return undefined
  if (lines.pop() !== `-----END ${label}-----`) return undefined
  const body = lines.join('')
  return isBase64(body) ? Buffer.from(body, 'base64') : undefined
}

/**
 * Whether the text is canonical base64. Node skips what it cannot decode, but a signature must not
 * have two spellings.
 */
export function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}
