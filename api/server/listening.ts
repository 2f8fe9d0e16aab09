// Listens with an HTTP server, and ends it: what the API and the webhook of external-dns share.
import { isIPv6 } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { apiLimits } from '#http/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface HttpServer {
  /**
   * Errors: a sentence that names the setting to change.
   *
   * @param handed descriptor of a socket that listens there already; the server closes it
   */
  readonly listen: (handed?: number) => Promise<Result<{ readonly port: number }, string>>
  /** The listening server. */
  readonly server: Server
  /** Lets requests in progress finish for `closeGraceMs`, then cuts them off. */
  readonly close: () => Promise<void>
}

interface ListenParts {
  readonly listenAddr: string
  /** 0: any free port. */
  readonly port: number
  /** Section of the settings with both. */
  readonly section: 'api' | 'externalDns'
  /** Begins the sentence of a failure: `the API cannot listen`. */
  readonly cannot: string
}

/** @param app is not listening yet */
export function httpServer(
  app: Pick<FastifyInstance, 'listen' | 'server' | 'close'>,
  parts: ListenParts,
): HttpServer {
  const { listenAddr: host, port } = parts
  return {
    server: app.server,
    listen: async (handed) => {
      try {
        // node:net listens on a descriptor, if there is one.
        await app.listen({ host, port, ...(handed === undefined ? {} : { fd: handed }) })
      } catch (error) {
        return err(whyNotListening(error, parts))
      }
      return ok({ port: (app.server.address() as AddressInfo).port })
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

function whyNotListening(
  error: unknown,
  { listenAddr, port, section, cannot }: ListenParts,
): string {
  const { code, message } = error as NodeJS.ErrnoException
  const place = isIPv6(listenAddr) ? `[${listenAddr}]:${port}` : `${listenAddr}:${port}`
  const elsewhere = `set ${section}.listenAddr to one it has`
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `another program listens there; stop it, or set ${section}.port to a free port`,
    EACCES: `this user may not use that port; set ${section}.port to 1024 or more`,
    EADDRNOTAVAIL: `this machine does not have that address; ${elsewhere}`,
  }
  return `${cannot} on ${place}: ${reasons[code ?? ''] ?? message}`
}
