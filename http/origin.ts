// Detects requests that a browser sends for a page of another site.
import type { FastifyRequest } from 'fastify'
import { isLoopback, isLoopbackName } from '#lib/loopback.ts'
import { refused } from './reply.ts'

export const crossSite = refused(403, 'the request comes from a page of another site')
export const reboundHost = refused(
  403,
  'without GSLB_API_KEY this machine is reached as localhost, 127.0.0.1 or [::1] only; set the ' +
    'key to use another name',
)

export const twoHosts = refused(400, 'the header Host is there more than once; give it once')

/** RFC 9112 section 3.2: a proxy before may have looked at the other one. */
export function hasTwoHosts({ raw: { rawHeaders } }: FastifyRequest): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** As the row of the route says. */
    forPages?: boolean
    fromNodes?: boolean
    takesAnyType?: boolean
    withWebhook?: boolean
    /** Path in the table of routes. */
    rowPath?: string
  }
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** True: scripts of any site may call it. */
/** The part of a request that identifies its route. */
export interface OnRoute {
  readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'> & {
    readonly config?: { readonly forPages?: boolean }
  }
}

export function isForPages({ routeOptions }: OnRoute): boolean {
  return routeOptions.config?.forPages === true
}

/** Headers that let a page of any site read the response. */
export const pageHeaders = { 'access-control-allow-origin': '*' } as const

/** The same for a preflight, with the methods of the path. */
export const preflightHeaders = (allow: string) => ({
  ...pageHeaders,
  'access-control-allow-methods': allow,
  'access-control-allow-headers': 'content-type',
  'access-control-max-age': '86400',
})

/**
 * A browser names the origin of a request that changes something. With neither header it is no
 * browser, and only browsers send a user's cookie along. (SameSite=Strict is the first guard, this
 * the second.)
 */
export function isCrossSite(request: FastifyRequest): boolean {
  if (safeMethods.has(request.method) || isForPages(request)) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return isOtherOrigin(request)
}

/**
 * A page whose name was made to point at this machine (DNS rebinding) has the same origin to its
 * browser. Without credentials only the name reveals it.
 */
export function isRebound({ socket, host }: FastifyRequest): boolean {
  const { localAddress = '' } = socket
  const isLocal = localAddress === '' || isLoopback(localAddress.replace(/^::ffff:/, ''))
  return isLocal && !isLoopbackName(URL.parse(`http://${host}`)?.hostname ?? '')
}

/** Header fields of proxies: the request may be another client's. */
const ofProxies: readonly RegExp[] = [
  /forward|client-?ip|real-ip|connecting-ip/,
  /^(via$|remote-|proxy-|cdn-|cf-)/,
  /^x-(amzn|appengine|azure|cluster|envoy|host|original|proxy|remote|rewrite|scheme)/,
]

/**
 * Whether a program of this machine sends the request itself: not for another client, as proxies
 * and tunnels do, nor for a page whose name was made to point here.
 */
export function isDirectFromHere({ socket, headers, raw }: FastifyRequest): boolean {
  const { remoteAddress = '' } = socket
  if (!isLoopback(remoteAddress.replace(/^::ffff:/, ''))) return false
  // A proxy that adds no field speaks HTTP/1.0, and sends this server's address as host: the
  // default of nginx.
  if (raw.httpVersion !== '1.1') return false
  const names = Object.keys(headers)
  if (ofProxies.some((form) => names.some((name) => form.test(name)))) return false
  const { host = '', origin, referer } = headers
  const isOurs = (url: string) => isLoopbackName(URL.parse(url)?.hostname ?? '')
  return isOurs(`http://${host}`) && [origin, referer].every((one) => !one || isOurs(one))
}

/** A request without an origin comes from no browser. */
export function isOtherOrigin({ headers, host }: FastifyRequest): boolean {
  const { origin } = headers
  if (origin === undefined) return false
  const from = URL.parse(origin)
  // Compared in the same scheme, so that a default port is dropped from both or neither.
  return from === null || from.host !== URL.parse(`${from.protocol}//${host}`)?.host
}
