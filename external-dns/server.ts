// Starts and stops the listener for external-dns.
import type { ServerPorts } from '#api/server/app.ts'
import { httpServer } from '#api/server/listening.ts'
import type { HttpServer } from '#api/server/listening.ts'
import { createExternalDnsApp } from './app.ts'

interface ExternalDnsServerParts {
  readonly ports: ServerPorts
  readonly listenAddr: string
  /** 0: any free port. */
  readonly port: number
  /** Tenant of requests without a credential; undefined: they are refused. */
  readonly tenant: string | undefined
}

export function createExternalDnsServer(parts: ExternalDnsServerParts): HttpServer {
  const { ports, listenAddr, port, tenant } = parts
  const cannot = 'external-dns cannot be listened to'
  const app = createExternalDnsApp(ports, tenant)
  const http = httpServer(app, { listenAddr, port, section: 'externalDns', cannot })
  return {
    ...http,
    listen: async (handed) => {
      const bound = await http.listen(handed)
      if (!bound.ok) return bound
      const fields = { address: listenAddr, port: bound.value.port }
      ports.log.info(fields, 'external-dns is listened to')
      return bound
    },
  }
}
