// Detects requests that a browser sends from a page of another site.
import type { FastifyRequest } from 'fastify'
import { isLoopback, isLoopbackName } from '#lib/loopback.ts'
import { refused } from './reply.ts'

export const crossSite = refused(403, 'the request comes from a page of another site')
export const reboundHost = refused(
  403,
  'without GSLB_API_KEY this machine is reached as localhost, 127.0.0.1 or [::1] only; set the ' +
    'key to use another name',
)

declare module 'fastify' {
  interface FastifyContextConfig {
    /** As the row of the route says. */
    forPages?: boolean
    fromNodes?: boolean
    withWebhook?: boolean
    /** Path in the row of the table of routes. */
    rowPath?: string
  }
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Scripts in pages of any site may call it. */
/** As much of a request as says what its route is. */
export interface OnRoute {
  readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'> & {
    readonly config?: { readonly forPages?: boolean }
  }
}

export function isForPages({ routeOptions }: OnRoute): boolean {
  return routeOptions.config?.forPages === true
}

/** What a page may do with a route that is for pages, for all to read. */
export const pageHeaders = { 'access-control-allow-origin': '*' } as const

/** The same before a request that is not simple, with the methods of the path. */
export const preflightHeaders = (allow: string) => ({
  ...pageHeaders,
  'access-control-allow-methods': allow,
  'access-control-allow-headers': 'content-type',
  'access-control-max-age': '86400',
})

/**
 * A browser says where a request that changes something comes from; with neither header it is no
 * browser, and nobody else sends somebody's cookie along. (SameSite=Strict is the first guard, this
 * the second.)
 */
export function isCrossSite(request: FastifyRequest): boolean {
  if (safeMethods.has(request.method) || isForPages(request)) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return isOtherOrigin(request)
}

/**
 * A page whose site has let its name point at this machine (DNS rebinding) is of the same origin to
 * its browser. Where no credential is asked for, the name is all that tells it from us.
 */
export function isRebound({ socket, host }: FastifyRequest): boolean {
  const { localAddress = '' } = socket
  const isLocal = localAddress === '' || isLoopback(localAddress.replace(/^::ffff:/, ''))
  return isLocal && !isLoopbackName(URL.parse(`http://${host}`)?.hostname ?? '')
}

/** Fields that proxies add: with one, somebody else may have sent the request through a proxy. */
const ofProxies: readonly RegExp[] = [
  /forward|client-?ip|real-ip|connecting-ip/,
  /^(via$|remote-|proxy-|cdn-|cf-)/,
  /^x-(amzn|appengine|azure|cluster|envoy|host|original|proxy|remote|rewrite|scheme)/,
]

/**
 * It comes from a program of this machine that speaks to us itself: not for a client elsewhere, as
 * proxies and tunnels do, nor for a page whose site has let its name point here.
 */
export function isDirectFromHere({ socket, headers, raw }: FastifyRequest): boolean {
  const { remoteAddress = '' } = socket
  if (!isLoopback(remoteAddress.replace(/^::ffff:/, ''))) return false
  // A proxy that adds nothing speaks HTTP/1.0 and writes our own address as the host: nginx does
  // where nothing else is set.
  if (raw.httpVersion !== '1.1') return false
  const names = Object.keys(headers)
  if (ofProxies.some((form) => names.some((name) => form.test(name)))) return false
  const { host = '', origin, referer } = headers
  const isOurs = (url: string) => isLoopbackName(URL.parse(url)?.hostname ?? '')
  return isOurs(`http://${host}`) && [origin, referer].every((one) => !one || isOurs(one))
}

/** A request without an origin comes from no browser, so it counts as our own. */
export function isOtherOrigin({ headers, host }: FastifyRequest): boolean {
  const { origin } = headers
  if (origin === undefined) return false
  const from = URL.parse(origin)
  // Our own host in the same scheme, so that a default port is dropped from both or neither.
  return from === null || from.host !== URL.parse(`${from.protocol}//${host}`)?.host
}
