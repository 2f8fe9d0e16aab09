// Limits the connections of one client of the API, so that others find a place.
import type { Server, Socket } from 'node:net'
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '#lib/loopback.ts'
import { networkOf } from '#access/auth/login-limits.ts'

interface ClientConnectionsParts {
  /** Connections of a client; one more is closed. */
  readonly max: number
  /** True: many clients come from this address. */
  readonly isProxy: (address: string) => boolean
}

/** A client is an IPv4 address or an IPv6 /64, whose owner has all of its addresses. */
export function limitClients(
  server: Pick<Server, 'on'>,
  { max, isProxy }: ClientConnectionsParts,
): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = plain(socket.remoteAddress ?? '')
    if (isProxy(address)) return
    const client = networkOf(address)
    const count = (open.get(client) ?? 0) + 1
    if (count > max) {
      socket.destroy()
      return
    }
    open.set(client, count)
    socket.once('close', () => {
      const left = open.get(client)! - 1
      if (left === 0) open.delete(client)
      else open.set(client, left)
    })
  })
}

/**
 * Whether a proxy is at an address: one that is trusted, or any of this machine.
 *
 * @param proxies addresses and networks
 */
export function proxyTest(proxies: readonly string[]): (address: string) => boolean {
  const known = new BlockList()
  for (const text of proxies) {
    const [address = '', prefix] = text.split('/')
    const family = familyOf(address)
    if (family === undefined) continue
    if (prefix === undefined) known.addAddress(address, family)
    else known.addSubnet(address, Number(prefix), family)
  }
  return (address) => {
    const family = familyOf(address)
    return isLoopback(address) || (family !== undefined && known.check(address, family))
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined =>
  (({ 4: 'ipv4', 6: 'ipv6' }) as const)[isIP(address)]

/** As IPv4 where a socket of both families took the connection; without a zone. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}
