// Builds the HTTP server that external-dns speaks to as its webhook provider, without binding it.
import { Readable } from 'node:stream'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Mutex } from '#lib/mutex.ts'
import { Authenticator } from '#access/auth/authenticator.ts'
import type { Caller } from '#access/caller.ts'
import { parseBodies } from '#http/body.ts'
import { answerBadUrl, answerClientError, answerError } from '#http/errors.ts'
import { apiLimits } from '#http/limits.ts'
import { later, refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { createLargeCheck } from '#http/validation.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { auditEntryOf } from '#api/server/audit.ts'
import { endedRequestOf } from '#api/server/ended-request.ts'
import { factsOf, send } from '#api/server/requests.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { applyChanges } from './apply.ts'
import { callerOf } from './caller.ts'
import {
  AdjustBody,
  ChangesBody,
  changesIn,
  readEndpoint,
  wireOf,
  withLowerNames,
} from './endpoint.ts'
import type { Endpoint, WireEndpoint } from './endpoint.ts'
import { heldBy } from './held.ts'
import type { Held } from './held.ts'
import { levelled } from './level.ts'
import { externalDnsLimits } from './limits.ts'
import { isAcceptable, mediaType, mediaTypeForm, notAcceptable } from './media-type.ts'

const checkAdjust = createLargeCheck(AdjustBody)
const checkChanges = createLargeCheck(ChangesBody)

/** @param tenant of requests without a credential; undefined: they are refused */
export function createExternalDnsApp(
  ports: ServerPorts,
  tenant: string | undefined,
): FastifyInstance {
  const app = bareApp(ports)
  const parts = { authenticator: new Authenticator(ports), ports, tenant }
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const found = await callerOf(request, parts)
    if (!found.ok) return send(reply, null, noted(request, found.error))
    request.admitted = { caller: found.value, cookieToken: null, refusal: null }
    if (isAcceptable(request.headers.accept)) return undefined
    return send(reply, null, refused(406, notAcceptable))
  }
  const noted = (request: FastifyRequest, answer: Reply): Reply => {
    note(ports, request, answer)
    return answer
  }
  const turns = new Turns()
  const routes: readonly (readonly ['GET' | 'POST', string, Handle])[] = [
    ['GET', '/', (request) => negotiated(ports, tenantOf(request))],
    ['GET', '/records', (request) => records(ports, tenantOf(request))],
    ['POST', '/adjustendpoints', (request) => adjusted(ports, request)],
    ['POST', '/records', (request) => turns.take(() => applied(ports, request))],
  ]
  for (const [method, url, handle] of routes) {
    app.route({
      ...{ method, url, onRequest: admit, exposeHeadRoute: false },
      handler: async (request, reply) => send(reply, null, noted(request, await handle(request))),
    })
  }
  app.get('/healthz', async (_, reply) =>
    send(reply, null, ports.config.isReady() ? healthy : later(503, 'not ready yet', 2)),
  )
  return app
}

type Handle = (request: FastifyRequest) => Reply | Promise<Reply>

const healthy: Reply = { status: 200, body: 'ok\n', headers: { 'content-type': 'text/plain' } }

function bareApp(ports: ServerPorts): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: () => uuidV7(ports.clock.nowMs()),
    bodyLimit: externalDnsLimits.bodyBytesMax,
    requestTimeout: apiLimits.requestTimeoutMs,
    handlerTimeout: apiLimits.handlerTimeoutMs,
    keepAliveTimeout: apiLimits.keepAliveTimeoutMs,
    maxRequestsPerSocket: apiLimits.requestsPerConnectionMax,
    return503OnClosing: false,
    http: {
      maxHeaderSize: apiLimits.headerBytesMax,
      headersTimeout: apiLimits.headersTimeoutMs,
      keepAliveTimeoutBuffer: apiLimits.keepAliveGraceMs,
      connectionsCheckingInterval: apiLimits.checkIntervalMs,
    },
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerClientError,
  })
  app.server.maxConnections = externalDnsLimits.connectionsMax
  app.decorateRequest('admitted', null)
  app.decorateRequest('noted', null)
  parseBodies(app, { form: mediaTypeForm, name: mediaType })
  app.setErrorHandler(answerError(ports.log))
  app.setNotFoundHandler(async (request, reply) => {
    const path = (request.url.split('?', 1)[0] ?? '').slice(0, 200)
    return send(reply, null, refused(404, `there is no ${request.method} ${path}`))
  })
  app.addHook('onSend', async (request, reply, payload) => {
    void reply.headers({ 'cache-control': 'no-store', 'x-request-id': request.id })
    return payload
  })
  app.addHook('onResponse', async (request, reply) => {
    // The audit log has only requests that ask for a change. The route counts: the router passes
    // over a query, and reads `%72` as a letter.
    const { url: route } = request.routeOptions
    if (route !== '/records') return
    ports.requestTimes.ended(endedRequestOf(request, reply, route))
    const entry = auditEntryOf(request, reply, ports.clock.nowMs())
    if (entry !== undefined) ports.audit.write(entry)
    const caller = request.admitted?.caller
    if (caller !== undefined) ports.countCall(caller.tenant)
  })
  return app
}

/** external-dns logs the status alone, so the reason is logged here. */
function note({ log }: ServerPorts, request: FastifyRequest, { status, body }: Reply): void {
  if (status < 400) return
  const { error: reason } = body as { readonly error: string }
  const { id: requestId, method, url, admitted } = request
  const fields = { requestId, method, url: url.slice(0, 200), tenant: admitted?.caller.tenant }
  log.warn({ ...fields, status, reason }, 'a request of external-dns was refused')
}

function callerIn({ admitted }: FastifyRequest): Caller {
  if (admitted === null) throw new Error('a handler runs after access was granted')
  return admitted.caller
}

const tenantOf = (request: FastifyRequest): string => callerIn(request).tenant

/** Octets: to a text the framework would add its character set, which external-dns refuses. */
const answer = (body: Buffer | Readable): Reply => ({
  status: 200,
  body,
  headers: { 'content-type': mediaType },
})

/** The published description names `filters`, and external-dns reads the others. */
function negotiated({ config }: ServerPorts, tenant: string): Reply {
  const { own, others } = heldBy(config.snapshot(), tenant).domains
  // Without a filter external-dns would send all that it has.
  if (own.size === 0) {
    const sentence = `tenant "${tenant}" has no domain yet: declare a delegated domain or a zone`
    return later(503, sentence, 10)
  }
  const dotless = (names: ReadonlySet<string>): readonly string[] =>
    [...names].map((one) => one.slice(0, -1))
  const filters = dotless(own)
  const exclude = dotless(others)
  const body = { filters, include: filters, ...(exclude.length === 0 ? {} : { exclude }) }
  const reply = answer(Buffer.from(JSON.stringify(body)))
  // Versions before 0.14.0 compare the version.
  return { ...reply, headers: { ...reply.headers, vary: 'Content-Type' } }
}

function records({ config }: ServerPorts, tenant: string): Reply {
  const { endpoints } = heldBy(config.snapshot(), tenant)
  if (endpoints.length > externalDnsLimits.recordsMax) {
    const most = externalDnsLimits.recordsMax
    const sentence =
      `tenant "${tenant}" has ${endpoints.length} endpoints, and this protocol, which has no ` +
      `pages, is answered with ${most} at most: give the clusters tenants of their own`
    return refused(500, sentence)
  }
  return answer(Readable.from(chunksOf(endpoints)))
}

function* chunksOf(endpoints: readonly Endpoint[]): Generator<string> {
  const { recordsPerChunk } = externalDnsLimits
  yield '['
  for (let at = 0; at < endpoints.length; at += recordsPerChunk) {
    const some = endpoints.slice(at, at + recordsPerChunk).map(wireOf)
    yield (at === 0 ? '' : ',') + JSON.stringify(some).slice(1, -1)
  }
  yield ']'
}

/**
 * Answers the adjust request. An endpoint that cannot be read stays unchanged, since one left out
 * would be deleted; its change is refused with the reason.
 */
function adjusted({ config }: ServerPorts, request: FastifyRequest): Reply {
  const faults = checkAdjust(request.body ?? null)
  if (faults.length > 0) return refused(400, faults.join('; '))
  const held = heldBy(config.snapshot(), tenantOf(request))
  const given = (request.body ?? []) as readonly WireEndpoint[]
  return answer(Buffer.from(JSON.stringify(given.map((wire) => adjustedOne(wire, held)))))
}

function adjustedOne(wire: WireEndpoint, held: Held): WireEndpoint {
  const read = readEndpoint(wire)
  const level = read.ok ? levelled(atApex(read.value, held), held) : read
  return level.ok ? wireOf(level.value) : wire
}

/** A zone has other records at its own name, beside which there can be no CNAME. */
function atApex(endpoint: Endpoint, { zones }: Held): Endpoint {
  if (endpoint.type !== 'CNAME' || !zones.has(endpoint.name)) return endpoint
  return { ...endpoint, properties: { ...endpoint.properties, alias: 'true' } }
}

async function applied(ports: ServerPorts, request: FastifyRequest): Promise<Reply> {
  const body = withLowerNames(request.body ?? null)
  const faults = checkChanges(body)
  if (faults.length > 0) return refused(400, faults.join('; '))
  const context = { caller: callerIn(request), requestId: request.id, request: factsOf(request) }
  return await applyChanges({ ...context, ports }, changesIn(body as object))
}

/** Runs changes one after the other, since each is computed from the current objects. */
class Turns {
  readonly #mutex = new Mutex()
  #waiting = 0

  async take(change: () => Promise<Reply>): Promise<Reply> {
    if (this.#waiting >= externalDnsLimits.waitingMax) {
      return later(503, 'too many changes wait already; try again', 2)
    }
    this.#waiting++
    try {
      return await this.#mutex.take(change)
    } finally {
      this.#waiting--
    }
  }
}
