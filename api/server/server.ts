// Starts and stops the HTTP server of the API.
import type { Log } from '#lib/log.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createApp } from './app.ts'
import type { ServerPorts } from './app.ts'
import { isLoopback } from '#lib/loopback.ts'
import { httpServer } from './listening.ts'
import type { HttpServer } from './listening.ts'
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

/** Builds a server that is not listening yet. */
export function createApiServer(parts: ApiServerParts): HttpServer {
  const { dashboardDirectory } = parts
  const home = dashboardDirectory === undefined ? {} : { homePath: dashboardPath }
  const app = createApp({ ...parts.ports, ...home }, parts.trustedProxies, parts.tls ?? null)
  if (dashboardDirectory === null) servePlaceholder(app)
  else if (dashboardDirectory !== undefined) serveDashboard(app, dashboardDirectory)
  if (parts.statusPage !== undefined) serveStatusPage(app, parts.ports, parts.statusPage)
  const { listenAddr, port } = parts
  const cannot = 'the API cannot listen'
  const http = httpServer(app, { listenAddr, port, section: 'api', cannot })
  return { ...http, listen: (handed) => listen(http, parts, handed) }
}

async function listen(
  http: HttpServer,
  { listenAddr, log, ports, allowDevMode, tls = null }: ApiServerParts,
  handed: number | undefined,
): Promise<Result<{ readonly port: number }, string>> {
  const isDevMode = ports.auth.systemKey === null
  const fault = devModeFault({ isDevMode, listenAddr, allowDevMode })
  if (fault !== undefined) return err(fault)
  const listening = await http.listen(handed)
  if (!listening.ok) return listening
  const { port: bound } = listening.value
  const scheme = tls === null ? 'http' : 'https'
  log.info({ address: listenAddr, port: bound, scheme }, 'API listens')
  if (isDevMode) {
    log.warn(
      { address: listenAddr, port: bound },
      'DEV MODE: GSLB_API_KEY is not set, so every request is treated as the system ' +
        'administrator, without login; set it for anything but a trial on this machine',
    )
  }
  return listening
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
