// Decides what may precede a message or a connection: a PROXY header from the networks that the
// settings name, and from no other sender.
import type { Network } from '#dns/network.ts'
import { ProxyHeader, ProxyRead, readSignature, signatureBytes } from './proxy-header.ts'

/** How the beginning of a connection or a datagram was judged. */
export const ProxyOutcome = {
  /** The message is answered as if the client that the header names had sent it. */
  Client: 0,
  /** The header names no client: the connection is the proxy's own. */
  Own: 1,
  /** A proxy sent no header. */
  Missing: 2,
  Malformed: 3,
  /** A sender that is no proxy sent a header. */
  Stranger: 4,
} as const
export type ProxyOutcome = (typeof ProxyOutcome)[keyof typeof ProxyOutcome]

/** Names of the outcomes in metrics, by number. */
export const proxyOutcomeNames = ['client', 'own', 'missing', 'malformed', 'stranger'] as const

/** Results of `admit` and `admitDatagram` in place of a length. */
export const Admission = {
  /** More octets must come before a decision. */
  Unfinished: -1,
  Refused: -2,
} as const

export interface ProxyCounts {
  readonly proxyHeader: (outcome: ProxyOutcome) => void
}

export class ProxyGate {
  readonly header = new ProxyHeader()
  readonly #counts: ProxyCounts
  /** Four words of each network, IPv4 as ::ffff:a.b.c.d. */
  readonly #networks: Int32Array
  readonly #masks: Int32Array

  /** @param networks at least one */
  constructor(networks: readonly Network[], counts: ProxyCounts) {
    this.#counts = counts
    this.#networks = new Int32Array(networks.length * 4)
    this.#masks = new Int32Array(networks.length * 4)
    networks.forEach(({ octets, prefixBits }, row) => {
      const at = row * 4
      const firstWord = octets.length === 4 ? 3 : 0
      if (octets.length === 4) {
        this.#networks[at + 2] = 0xffff
        this.#masks.fill(-1, at, at + 3)
      }
      for (let word = firstWord; word < 4; word++) {
        const bits = prefixBits - (word - firstWord) * 32
        const mask = bits <= 0 ? 0 : bits >= 32 ? -1 : -1 << (32 - bits)
        this.#masks[at + word] = mask
        this.#networks[at + word] = wordAt(octets, (word - firstWord) * 4) & mask
      }
    })
  }

  /** Whether an address belongs to a proxy. @param bytes 4 or 16 */
  isProxy(octets: Uint8Array, at: number, bytes: number): boolean {
    const networks = this.#networks
    const masks = this.#masks
    const isV4 = bytes === 4
    const word0 = isV4 ? 0 : wordAt(octets, at)
    const word1 = isV4 ? 0 : wordAt(octets, at + 4)
    const word2 = isV4 ? 0xffff : wordAt(octets, at + 8)
    const word3 = wordAt(octets, isV4 ? at : at + 12)
    for (let row = 0; row < networks.length; row += 4) {
      const isOther =
        ((word3 & masks[row + 3]!) ^ networks[row + 3]!) |
        ((word2 & masks[row + 2]!) ^ networks[row + 2]!) |
        ((word1 & masks[row + 1]!) ^ networks[row + 1]!) |
        ((word0 & masks[row]!) ^ networks[row]!)
      if (isOther === 0) return true
    }
    return false
  }

  /**
   * Judges how a connection begins; `header` then names the client.
   *
   * @returns octets of its header, 0 where none is expected; or a value of `Admission`
   */
  admit(octets: Uint8Array, from: number, end: number, isProxy: boolean): number {
    if (!isProxy) {
      const signed = readSignature(octets, from, end)
      if (signed === ProxyRead.Absent) return 0
      return signed === signatureBytes ? this.#refuse(ProxyOutcome.Stranger) : Admission.Unfinished
    }
    const read = this.header.read(octets, from, end)
    if (read === ProxyRead.Unfinished) return Admission.Unfinished
    if (read === ProxyRead.Absent) return this.#refuse(ProxyOutcome.Missing)
    if (read === ProxyRead.Malformed) return this.#refuse(ProxyOutcome.Malformed)
    this.#counts.proxyHeader(this.header.isClient ? ProxyOutcome.Client : ProxyOutcome.Own)
    return read
  }

  /** Judges a datagram, which is always whole. @returns never `Admission.Unfinished` */
  admitDatagram(octets: Uint8Array, from: number, end: number, isProxy: boolean): number {
    const admitted = this.admit(octets, from, end, isProxy)
    if (admitted !== Admission.Unfinished) return admitted
    // Octets of a stranger that are shorter than a signature are too short for a message as well.
    return isProxy ? this.#refuse(ProxyOutcome.Malformed) : 0
  }

  #refuse(outcome: ProxyOutcome): number {
    this.#counts.proxyHeader(outcome)
    return Admission.Refused
  }
}

function wordAt(octets: Uint8Array, at: number): number {
  return (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!
}
