// The beginning of a TCP connection, where proxies are named: holds what has come until it is
// known whether it is a PROXY header, and whose.
import { Admission } from '#system/sockets/proxy-gate.ts'
import type { ProxyGate } from '#system/sockets/proxy-gate.ts'
import { proxyHeaderBytesMax } from '#system/sockets/proxy-header.ts'

/** The peer of a connection, or the client for whom a proxy speaks. */
export interface TcpClient {
  /** 16 octets; IPv4 as ::ffff:a.b.c.d */
  readonly address: Uint8Array
  readonly port: number
}

interface Beginning {
  /** What follows the header, or all that has come. */
  readonly rest: Uint8Array
  /** null: who speaks is the sender. */
  readonly client: TcpClient | null
}

const nothing = new Uint8Array(0)

export class ConnectionStart {
  readonly isProxy: boolean
  readonly #gate: ProxyGate
  #held: Uint8Array = nothing

  constructor(gate: ProxyGate, isProxy: boolean) {
    this.#gate = gate
    this.isProxy = isProxy
  }

  /** @returns null until enough has come; `refused` ends the connection */
  take(chunk: Uint8Array): Beginning | null | 'refused' {
    const octets = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const admitted = this.#gate.admit(octets, 0, octets.length, this.isProxy)
    if (admitted === Admission.Refused) return 'refused'
    if (admitted === Admission.Unfinished) {
      // A copy: the chunk is part of larger memory. No header that is read is longer.
      this.#held = Uint8Array.from(octets.subarray(0, proxyHeaderBytesMax))
      return null
    }
    const { header } = this.#gate
    const isNamed = admitted > 0 && header.isClient
    const client = isNamed ? { address: header.address.slice(), port: header.port } : null
    return { rest: octets.subarray(admitted), client }
  }
}
