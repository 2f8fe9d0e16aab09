// Starts and stops the HTTP server of the API.
import { isIPv6 } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createApp } from './app.ts'
import type { ServerPorts } from './app.ts'
import { apiLimits } from '#http/limits.ts'
import { isLoopback } from '#lib/loopback.ts'
import type { ServerTls } from './server-tls.ts'
import { serveStatusPage } from './status-page.ts'
import type { StatusPage } from './status-page.ts'
import { dashboardPath, serveDashboard, servePlaceholder } from './web-dashboard.ts'

interface ApiServerParts {
  readonly ports: ServerPorts
  readonly log: Log
  readonly listenAddr: string
  /** 0: any free port. */
  readonly port: number
  /** Addresses and networks whose X-Forwarded-… headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** True: dev mode may be reached from other machines. */
  readonly allowDevMode: boolean
  /** Directory served at /ui/; null: a page says how to build it; undefined: none. */
  readonly dashboardDirectory?: string | null | undefined
  /** Without names, or left out: there is no page. */
  readonly statusPage?: StatusPage
  /** null, or left out: it speaks plain HTTP. */
  readonly tls?: ServerTls | null
}

export interface ApiServer {
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

/** Builds a server that is not listening yet. */
export function createApiServer(parts: ApiServerParts): ApiServer {
  const { dashboardDirectory } = parts
  const home = dashboardDirectory === undefined ? {} : { homePath: dashboardPath }
  const app = createApp({ ...parts.ports, ...home }, parts.trustedProxies, parts.tls ?? null)
  if (dashboardDirectory === null) servePlaceholder(app)
  else if (dashboardDirectory !== undefined) serveDashboard(app, dashboardDirectory)
  if (parts.statusPage !== undefined) serveStatusPage(app, parts.ports, parts.statusPage)
  return {
    listen: (handed) => listen(app, parts, handed),
    server: app.server,
    close: () => close(app),
  }
}

async function listen(
  app: FastifyInstance,
  { listenAddr, port, log, ports, allowDevMode, tls = null }: ApiServerParts,
  handed: number | undefined,
): Promise<Result<{ port: number }, string>> {
  const isDevMode = ports.auth.systemKey === null
  const fault = devModeFault({ isDevMode, listenAddr, allowDevMode })
  if (fault !== undefined) return err(fault)
  try {
    // node:net listens on a descriptor, if there is one.
    const place = { host: listenAddr, port, ...(handed === undefined ? {} : { fd: handed }) }
    await app.listen(place)
  } catch (error) {
    return err(whyNotListening(error, listenAddr, port))
  }
  const bound = (app.server.address() as AddressInfo).port
  const scheme = tls === null ? 'http' : 'https'
  log.info({ address: listenAddr, port: bound, scheme }, 'API listens')
  if (isDevMode) {
    log.warn(
      { address: listenAddr, port: bound },
      'DEV MODE: GSLB_API_KEY is not set, so every request is treated as the system ' +
        'administrator, without login; set it for anything but a trial on this machine',
    )
  }
  return ok({ port: bound })
}

/**
 * @param isDevMode true: there is no system key
 *
 * @returns why it may not listen there
 */
export function devModeFault({
  isDevMode,
  listenAddr,
  allowDevMode,
}: Pick<ApiServerParts, 'listenAddr' | 'allowDevMode'> & {
  readonly isDevMode: boolean
}): string | undefined {
  if (!isDevMode || isLoopback(listenAddr) || allowDevMode) return undefined
  return (
    `the API cannot listen on ${listenAddr} without GSLB_API_KEY: whoever reached it would be ` +
    'system administrator; set GSLB_API_KEY, set api.listenAddr to 127.0.0.1, or, if the network ' +
    'keeps everybody else away, set api.allowDevMode to true'
  )
}

function whyNotListening(error: unknown, listenAddr: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  const place = isIPv6(listenAddr) ? `[${listenAddr}]:${port}` : `${listenAddr}:${port}`
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; stop it, or set api.port to a free port',
    EACCES: 'this user may not use that port; set api.port to 1024 or more',
    EADDRNOTAVAIL: 'this machine does not have that address; set api.listenAddr to one it has',
  }
  return `the API cannot listen on ${place}: ${reasons[code ?? ''] ?? message}`
}

async function close(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), apiLimits.closeGraceMs)
  try {
    await app.close()
  } finally {
    clearTimeout(cut)
  }
}
