// Builds the HTTP server without binding it: the table of routes behind limits, authentication and
// one error format.
import type { Server as TlsServer } from 'node:tls'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closed } from '#http/shapes.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { admit } from '#access/admit/admit.ts'
import type { AccessParts, Admitted, Asked } from '#access/admit/admit.ts'
import { auditEntryOf } from './audit.ts'
import { limitClients, proxyTest } from './client-connections.ts'
import type { AuditSink } from './audit.ts'
import { Authenticator } from '#access/auth/authenticator.ts'
import { whoFields } from '#access/caller.ts'
import { setSessionCookie } from '#access/credentials.ts'
import { parseBodies } from '#http/body.ts'
import { schemaController } from '#http/compilers.ts'
import { compressAnswers } from '#http/compression/answers.ts'
import { DryRun, dryRunHeader, isDryRun } from '#http/dry-run.ts'
import { answerBadUrl, answerError } from '#http/errors.ts'
import { Handshakes, isHandshake } from '#http/handshake/web-socket.ts'
import { apiLimits } from '#http/limits.ts'
import { endedRequestOf } from './ended-request.ts'
import type { ApiServerTimes } from './ended-request.ts'
import { hasTwoHosts, pageHeaders, preflightHeaders, twoHosts } from '#http/origin.ts'
import { PageAudit } from './page-audit.ts'
import { OwnDelay } from './own-delay.ts'
import type { FeedPort } from '#ports/feed-port.ts'
import type { ApiPorts, Ports } from '#ports/ports.ts'
import type { RequestCounts } from '#http/request-counts.ts'
import { invalid, noContent, refused } from '#http/reply.ts'
import { isSigned, unsignedWebhook } from '#access/admit/webhook.ts'
import { takesDryRun } from '#api/route/answer-headers.ts'
import type { Reply } from '#http/reply.ts'
import type { ServerTls } from './server-tls.ts'
import { contextOf, factsOf, send, twiceIn } from './requests.ts'
import { earlyRefusal, portsFor } from '#api/route/route.ts'
import type { Route } from '#api/route/route.ts'
import { routes } from '#api/routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, once access is granted; else null. */
    admitted: Admitted | null
    /** Notes of the handler for the audit log. */
    noted: Reply['noted'] | null
  }
}

/** Ports of the server itself, beside those of the routes. */
export interface ServerPorts extends ApiPorts {
  readonly audit: AuditSink
  /** Counts an authenticated request; never throws or waits. */
  readonly countCall: (tenant: string) => void
  /** Counts every request. */
  readonly requestCounts: RequestCounts
  readonly requestTimes: ApiServerTimes
  readonly feed: FeedPort & { readonly clientsMax: number; readonly close: () => Promise<void> }
}

/**
 * @param trustedProxies addresses and networks whose X-Forwarded-… headers are trusted
 * @param tls null: plain HTTP
 */
export function createApp(
  ports: ServerPorts,
  trustedProxies: readonly string[],
  tls: ServerTls | null = null,
): FastifyInstance {
  const ownDelay = new OwnDelay()
  const app = fastify({
    logger: false,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: () => uuidV7(ports.clock.nowMs()),
    bodyLimit: apiLimits.bodyBytesMax,
    requestTimeout: apiLimits.requestTimeoutMs,
    handlerTimeout: apiLimits.handlerTimeoutMs,
    keepAliveTimeout: apiLimits.keepAliveTimeoutMs,
    maxRequestsPerSocket: apiLimits.requestsPerConnectionMax,
    return503OnClosing: false,
    ...(tls === null ? { http: ofServer } : { https: { ...ofServer, ...ofTls(tls) } }),
    frameworkErrors: answerBadUrl,
    schemaController,
    clientErrorHandler: ownDelay.answerClientError,
  }) as FastifyInstance
  if (tls !== null) secure(app.server as unknown as TlsServer, tls)
  const { connectionsMax, bundles } = apiLimits
  const placesMax = connectionsMax + ports.feed.clientsMax + bundles.waitersMax
  app.server.maxConnections = placesMax
  const isProxy = proxyTest(trustedProxies)
  limitClients(app.server, { max: placesMax * apiLimits.clientShare, isProxy })
  ownDelay.attach(app.server)
  const handshakes = new Handshakes()
  handshakes.attach(app)
  app.addHook('preClose', () => ports.feed.close())
  app.decorateRequest('admitted', null)
  app.decorateRequest('noted', null)
  parseBodies(app)
  app.setErrorHandler(
    answerError(ports.log, ({ admitted }) => (admitted === null ? {} : whoFields(admitted.caller))),
  )
  app.addHook('onSend', async (request, reply, payload) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
    void reply.headers({
      'x-content-type-options': 'nosniff',
      'x-request-id': request.id,
    })
    return payload
  })
  compressAnswers(app)
  const pageAudit = new PageAudit(ports.audit, ports.clock)
  app.addHook('onClose', async () => pageAudit.flush())
  app.addHook('onResponse', async (request, reply) => {
    const entry = auditEntryOf(request, reply, ports.clock.nowMs())
    if (entry !== undefined) ports.audit.write(entry)
    pageAudit.note(request, reply)
    const { rowPath } = request.routeOptions.config ?? {}
    ports.requestCounts.note(rowPath, request.method, reply.statusCode)
    if (rowPath !== undefined) ports.requestTimes.ended(endedRequestOf(request, reply, rowPath))
    // A caller without a credential has no tenant.
    const tenant = request.admitted?.caller.tenant ?? ''
    if (tenant !== '') ports.countCall(tenant)
  })
  const access = { authenticator: new Authenticator(ports), ports }
  for (const row of routes) addRoute(app, row, access, handshakes)
  refuseOtherMethods(app, access)
  refuseOtherPaths(app, access)
  return app
}

const ofServer = {
  maxHeaderSize: apiLimits.headerBytesMax,
  headersTimeout: apiLimits.headersTimeoutMs,
  keepAliveTimeoutBuffer: apiLimits.keepAliveGraceMs,
  connectionsCheckingInterval: apiLimits.checkIntervalMs,
  shouldUpgradeCallback: isHandshake,
} as const

const ofTls = ({ byName }: ServerTls) => ({
  ...{ ALPNProtocols: ['http/1.1'], handshakeTimeout: apiLimits.headersTimeoutMs },
  ...(byName && { SNICallback: byName }),
})

/** A pair that comes later serves the connections that begin then. */
function secure(server: TlsServer, { pair, onChange }: ServerTls): void {
  const take = (): void => {
    const now = pair()
    if (now !== undefined) server.setSecureContext({ cert: now.cert, key: now.key })
  }
  take()
  onChange(take)
  server.on('tlsClientError', (_error, socket) => socket.destroy())
}

const noQuery = closed({})

function schemaOf(row: Route): object {
  const response = Object.entries(row.responses)
    .filter(([, { schema, contentType }]) => schema !== null && contentType === undefined)
    .map(([status, { schema }]) => [status, schema])
  return {
    ...(row.params === undefined ? {} : { params: row.params }),
    querystring: row.query ?? (takesDryRun(row) ? DryRun : noQuery),
    ...(row.body === undefined ? {} : { body: row.body }),
    response: Object.fromEntries(response) as object,
  }
}

function addRoute(
  app: FastifyInstance,
  row: Route,
  access: AccessParts & { readonly ports: ApiPorts },
  handshakes: Handshakes,
): void {
  const { ports } = access
  app.route({
    method: row.method,
    url: patternOf(row.path),
    schema: schemaOf(row),
    config: {
      forPages: row.forPages === true,
      fromNodes: row.fromNodes === true,
      takesAnyType: row.takesAnyType === true,
      withWebhook: row.withWebhook === true,
      rowPath: row.path,
    },
    bodyLimit: row.bodyBytesMax ?? apiLimits.bodyBytesMax,
    onRequest: async (request, reply) => {
      if (row.forPages === true) void reply.headers(pageHeaders)
      if (takesDryRun(row) && isDryRun(request.query)) void reply.header(dryRunHeader, 'true')
      await guard(request, reply, row, access)
      if (reply.sent) return reply
      const twice = takesDryRun(row) ? twiceIn(request) : null
      const refusal = twice ?? (await earlyRefusal(row, factsOf(request), ports))
      return refusal === null ? undefined : send(reply, row, refusal)
    },
    preValidation: async (request) => {
      if (row.takesAnyType === true) request.body ??= {}
    },
    preHandler: async (request, reply) => {
      const { body, admitted } = request
      if (row.withWebhook === true) {
        if (admitted?.isUnproven !== true || isSigned(request, ports.auth)) return
        return send(reply, null, unsignedWebhook)
      }
      const isEmpty = Object.keys(body ?? {}).length === 0 && typeof (body ?? {}) === 'object'
      if (row.body !== undefined || isEmpty) return
      return send(reply, null, invalid('body', 'this request takes none'))
    },
    handler: async (request, reply) => {
      const { admitted } = request
      if (admitted === null) throw new Error('a handler runs after access was granted')
      const answer = await row.handle(contextOf(request, admitted.caller, portsFor(row, ports)))
      request.noted = answer.noted ?? null
      if (answer.upgrade !== undefined) {
        handshakes.complete(request.raw, reply.hijack().raw, answer.upgrade)
        return reply
      }
      extendCookie(request, reply, admitted, answer, ports)
      return send(reply, row, answer)
    },
  })
}

/** Sends a refusal itself, before any body is read. */
async function guard(
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  access: AccessParts,
): Promise<unknown> {
  if (hasTwoHosts(request)) return send(reply, null, twoHosts)
  const admitted = await admit(request, asked, access)
  if ('status' in admitted) return send(reply, null, admitted)
  request.admitted = admitted
  return admitted.refusal === null ? undefined : send(reply, null, admitted.refusal)
}

/** Extends the cookie as long as its session, whose time has just begun anew. */
function extendCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { cookieToken }: Admitted,
  answer: Reply,
  { auth }: Ports<'auth'>,
): void {
  if (cookieToken === null || !auth.sessionExtend) return
  if (answer.headers?.['set-cookie'] !== undefined) return
  const { isSecure } = factsOf(request)
  void reply.header('set-cookie', setSessionCookie(cookieToken, auth.sessionTtlMs, isSecure))
}

/** `/pools/{id}` in the form of the framework. */
function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const

interface KnownPath {
  readonly path: string
  readonly pattern: RegExp
  readonly taken: ReadonlySet<string>
  readonly needs: 'public' | 'any'
  readonly isForPages: boolean
}

/** A path as written goes before one with parameters that matches it, too. */
const knownPaths: readonly KnownPath[] = [...Map.groupBy(routes, (row) => row.path)]
  .map(([path, rows]) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
    taken: new Set(rows.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
    needs: rows.some((row) => row.needs === 'public') ? ('public' as const) : ('any' as const),
    isForPages: rows.some((row) => row.forPages === true),
  }))
  .toSorted((a, b) => (a.path.replaceAll('{', '~') < b.path.replaceAll('{', '~') ? -1 : 1))

/**
 * Where another path with parameters takes the method, the framework would choose that one: there,
 * the refusal is a route of its own. A route for each method of each path doubles the time of a
 * start.
 */
function refuseOtherMethods(app: FastifyInstance, access: AccessParts): void {
  const refuse = async (
    known: KnownPath,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<unknown> => {
    await guard(request, reply, { needs: known.needs, withoutConfig: true }, access)
    if (reply.sent) return reply
    const allow = methods.filter((method) => known.taken.has(method)).join(', ')
    if (known.isForPages && request.method === 'OPTIONS') {
      return send(reply, null, noContent(preflightHeaders(allow)))
    }
    const error = `${request.method} is not possible here; allowed: ${allow}`
    return send(reply, null, { ...refused(405, error), headers: { allow } })
  }
  app.addHook('onRequest', (request, reply, done) => {
    const known = request.is404 ? pathOf(request) : undefined
    if (known === undefined) done()
    else void refuse(known, request, reply).catch(done)
  })
  for (const known of knownPaths) {
    const others = knownPaths.filter(
      ({ path, pattern }) => path !== known.path && pattern.test(known.path),
    )
    const hidden = methods.filter(
      (method) => !known.taken.has(method) && others.some(({ taken }) => taken.has(method)),
    )
    if (hidden.length === 0) continue
    app.route({
      method: hidden,
      url: patternOf(known.path),
      onRequest: (request, reply) => refuse(known, request, reply),
      handler: () => undefined,
    })
  }
}

/** @returns undefined: the path is not known, or is one of an id that is too long */
function pathOf({ url, method }: FastifyRequest): KnownPath | undefined {
  if (!methods.some((one) => one === method)) return undefined
  const path = decodedPath(url)
  if (path === undefined) return undefined
  const known = knownPaths.find(({ pattern }) => pattern.test(path))
  return known?.taken.has(method) === true ? undefined : known
}

/** Up to where the router reads. @returns undefined: it is malformed */
function decodedPath(url: string): string | undefined {
  try {
    return decodeURI(url.split(/[?#]/, 1)[0]!)
  } catch {
    return undefined
  }
}

function refuseOtherPaths(app: FastifyInstance, access: AccessParts): void {
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0]?.slice(0, 200) ?? ''
    const needs = path.startsWith('/api/') ? 'any' : 'public'
    await guard(request, reply, { needs, withoutConfig: true }, access)
    if (reply.sent) return reply
    return send(reply, null, refused(404, `there is no ${request.method} ${path}`))
  })
}
