// Asks this node at one of its own addresses over UDP, as a client would: the SOA of a zone.
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import { ownProxyHeader } from '#system/sockets/proxy-header.ts'
import { dnsQuery, dnsTypeCodes, fitsQuery } from '#health/probes/dns-message.ts'

export interface SelfAnswer {
  /** Why there was no answer, in a sentence; null: it was answered. */
  readonly fault: string | null
  /** Time until the answer, or until the query was given up. */
  readonly tookMs: number
}

interface SelfQuestion {
  readonly address: string
  readonly port: number
  /** Name of the zone in wire form. */
  readonly name: Uint8Array
  readonly patienceMs: number
  /** Whether the address lies in a network of proxies, which must send a PROXY header. */
  readonly isProxy?: boolean
}

/**
 * Asks one address for the SOA. The query also has that address as its source: it then stays on
 * this machine, and no other node with the same address can answer it.
 */
export function askSelf(
  { address, port, name, patienceMs, isProxy = false }: SelfQuestion,
  clock: Clock,
): Promise<SelfAnswer> {
  return new Promise((resolve) => {
    const startedAtMs = clock.monotonicMs()
    const query = dnsQuery(randomInt(0x1_0000), name, dnsTypeCodes.SOA)
    const datagram = isProxy ? [ownProxyHeader, query] : query
    const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4' })
    let isOver = false
    const end = (fault: string | null): void => {
      if (isOver) return
      isOver = true
      clearTimeout(patience)
      socket.close()
      resolve({ fault, tookMs: clock.monotonicMs() - startedAtMs })
    }
    const give = (): void => end(`no answer from ${address} within ${patienceMs} ms`)
    // When this thread was busy the answer may wait in the socket, because timers run before input
    // is read.
    const patience = setTimeout(() => setImmediate(() => setImmediate(give)), patienceMs)
    socket.on('error', (error: NodeJS.ErrnoException) => end(faultOf(error, address)))
    socket.on('message', (message) => {
      // Any reply counts, whatever its code: queries over the limit of the licence are SERVFAIL,
      // and a node that withdrew for that would bring the others over their limits.
      if (fitsQuery(message, query)) end(null)
    })
    socket.bind({ address, port: 0, exclusive: true }, () => {
      if (isOver) return
      // Node calls this function with an error as well, and emits none then; its types lack the
      // parameter.
      socket.connect(port, address, (error?: NodeJS.ErrnoException | null) => {
        if (error) end(faultOf(error, address))
        else if (!isOver) socket.send(datagram)
      })
    })
  })
}

function faultOf(error: NodeJS.ErrnoException, address: string): string {
  if (error.code === 'EADDRNOTAVAIL') {
    return `this machine has no address ${address}; add it, as with "ip address add ${address} dev lo"`
  }
  if (error.code === 'ECONNREFUSED') return `nothing listens at ${address}`
  return `${address} cannot be asked: ${error.message}`
}
