// Starts and stops the listener for external-dns.
import type { AddressInfo, Server } from 'node:net'
import { isIPv6 } from 'node:net'
import type { ServerPorts } from '#api/server/app.ts'
import { apiLimits } from '#http/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createExternalDnsApp } from './app.ts'

interface ExternalDnsServerParts {
  readonly ports: ServerPorts
  readonly listenAddr: string
  /** 0: any free port. */
  readonly port: number
  /** Tenant of requests without a credential; undefined: they are refused. */
  readonly tenant: string | undefined
}

export interface ExternalDnsServer {
  /**
   * Errors: a sentence that names the setting to change.
   *
   * @param handed descriptor of a socket that listens there already; the server closes it
   */
  readonly listen: (handed?: number) => Promise<Result<{ readonly port: number }, string>>
  readonly server: Server
  /** Lets requests in progress finish for `closeGraceMs`, then cuts them off. */
  readonly close: () => Promise<void>
}

export function createExternalDnsServer(parts: ExternalDnsServerParts): ExternalDnsServer {
  const { ports, listenAddr: host, port, tenant } = parts
  const app = createExternalDnsApp(ports, tenant)
  return {
    server: app.server,
    listen: async (handed) => {
      try {
        await app.listen({ host, port, ...(handed === undefined ? {} : { fd: handed }) })
      } catch (error) {
        return err(whyNotListening(error, host, port))
      }
      const bound = (app.server.address() as AddressInfo).port
      ports.log.info({ address: host, port: bound }, 'external-dns is listened to')
      return ok({ port: bound })
    },
    close: async () => {
      const cut = setTimeout(() => app.server.closeAllConnections(), apiLimits.closeGraceMs)
      try {
        await app.close()
      } finally {
        clearTimeout(cut)
      }
    },
  }
}

function whyNotListening(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  const place = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; stop it, or set externalDns.port to a free port',
    EACCES: 'this user may not use that port; set externalDns.port to 1024 or more',
    EADDRNOTAVAIL:
      'this machine does not have that address; set externalDns.listenAddr to one it has',
  }
  return `external-dns cannot be listened to on ${place}: ${reasons[code ?? ''] ?? message}`
}
