// Holds the client of a query: the client subnet that a resolver sent, or the source address.

/** The client's address; there is one for each thread, and the answer path fills it each time. */
export class Client {
  /** Most significant word first; an IPv4 address is in the first one, even when it came mapped. */
  readonly words = new Uint32Array(4)
  isIpv6 = false
  /**
   * How many bits precede the IPv4 address: 96 when it came as an IPv4-mapped IPv6 address,
   * otherwise 0.
   */
  mappedBits = 0

  /** @param bytes 4 or 16 */
  set(octets: Uint8Array, at: number, bytes: number): void {
    const { words } = this
    words[0] = wordAt(octets, at)
    this.isIpv6 = bytes === 16
    this.mappedBits = 0
    if (bytes !== 16) return
    for (let i = 1; i < 4; i++) words[i] = wordAt(octets, at + i * 4)
    this.#unmap()
  }

  /** @param from one word or four, the most significant first */
  setWords(from: Int32Array, isIpv6: boolean): void {
    const { words } = this
    words[0] = from[0]!
    this.isIpv6 = isIpv6
    this.mappedBits = 0
    if (!isIpv6) return
    for (let i = 1; i < 4; i++) words[i] = from[i]!
    this.#unmap()
  }

  /** RFC 4291 section 2.5.5.2: a mapped address is the IPv4 one. */
  #unmap(): void {
    const { words } = this
    if (words[0] !== 0 || words[1] !== 0 || words[2] !== 0xffff) return
    words[0] = words[3]!
    this.isIpv6 = false
    this.mappedBits = 96
  }

  copy(other: Client): void {
    this.words.set(other.words)
    this.isIpv6 = other.isIpv6
    this.mappedBits = other.mappedBits
  }
}

export function wordAt(octets: Uint8Array, at: number): number {
  return (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!
}
