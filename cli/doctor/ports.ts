// Checks whether the ports of this node are free, and whether this user may take them.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'
import { securePorts } from '#settings/sections/dns.ts'
import { holderOf } from '#process/data/data-dir.ts'
import { bad, good, unknown } from './check.ts'
import type { Check, Finding } from './check.ts'

interface Port {
  readonly key: string
  readonly transport: 'UDP' | 'TCP'
  readonly address: string
  readonly port: number
}

export const ports: Check = {
  name: 'ports',
  async look({ settings: { dataDir, roles, dns, api, redirect } }) {
    const ofDns = { key: 'dns.port', address: dns.listenAddr, port: dns.port } as const
    const all: Port[] = roles.includes('dns')
      ? [
          { ...ofDns, transport: 'UDP' },
          { ...ofDns, transport: 'TCP' },
        ]
      : []
    const tcp = (key: string, address: string, port: number | undefined): void => {
      if (port !== undefined) all.push({ key, transport: 'TCP', address, port })
    }
    if (roles.includes('dns')) {
      for (const { key, port } of securePorts(dns)) tcp(key, dns.listenAddr, port)
    }
    if (api.enabled) tcp('api.port', api.listenAddr, api.port)
    if (redirect.enabled) tcp('redirect.port', redirect.listenAddr, redirect.port)
    const holder = holderOf(dataDir)
    return Promise.all(all.map(async (port) => findingOf(port, await bindFault(port), holder)))
  },
}

/** Code of the system's error; '': the port is free. */
async function bindFault({ transport, address, port }: Port): Promise<string> {
  if (port === 0) return ''
  try {
    if (transport === 'TCP') {
      const server = createServer().listen({ host: address, port, exclusive: true })
      await once(server, 'listening')
      server.close()
    } else {
      const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
      socket.bind({ address, port, exclusive: true })
      await once(socket, 'listening')
      socket.close()
    }
    return ''
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

/** @param holder the process that holds the data directory */
function findingOf(
  { key, transport, address, port }: Port,
  fault: string,
  holder: number | undefined,
): Finding {
  const place = `${transport} ${port} of ${address} (${key})`
  switch (fault) {
    case '':
      return good(port === 0 ? `${place}: the system chooses one` : `${place} is free`)
    case 'EADDRINUSE':
      // The check of answers tells whether that is a gslbd.
      return unknown(`${place} is taken: by this node if it runs, or see "ss -lnp"`)
    case 'EACCES':
      // systemd gives a unit the right to low ports, which this command lacks.
      if (holder !== undefined) {
        const node = `process ${holder}, which has the data directory,`
        return unknown(`${place} may not be taken by this user; ${node} may have the right`)
      }
      return bad(
        `${place} may not be taken by this user`,
        'give the node CAP_NET_BIND_SERVICE, or set sysctl net.ipv4.ip_unprivileged_port_start=53',
      )
    case 'EADDRNOTAVAIL':
      return bad(
        `${place}: this machine has no such address`,
        `name one of "ip address" in the settings, or 0.0.0.0`,
      )
    default:
      return bad(`${place} cannot be taken: ${fault}`, 'see the network of this machine')
  }
}
