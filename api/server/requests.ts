// Converts the framework's requests for handlers, and their replies for the framework.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '#access/caller.ts'
import { isDryRun } from '#http/dry-run.ts'
import { isWaiting } from '#http/handshake/web-socket.ts'
import { isDirectFromHere, isOtherOrigin, isRebound } from '#http/origin.ts'
import { refused } from '#http/reply.ts'
import { effectHeader, overrideHeader, subjectHeader } from '#http/write-headers.ts'
import type { Reply } from '#http/reply.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import { json } from '#http/shapes.ts'

export function contextOf(
  request: FastifyRequest,
  caller: Caller,
  ports: RouteContext['ports'],
): RouteContext {
  const { params, query, body, id } = request
  return {
    caller,
    params,
    query,
    body,
    requestId: id,
    isDryRun: isDryRun(query),
    request: factsOf(request),
    ports,
  }
}

export function factsOf(request: FastifyRequest): RequestFacts {
  return {
    address: request.ip,
    isSecure: request.protocol === 'https',
    isOtherOrigin: isOtherOrigin(request),
    isDirectFromHere: () => isDirectFromHere(request),
    isRebound: () => isRebound(request),
    isHandshake: isWaiting(request.raw),
    header: (name) => {
      const value = request.headers[name]
      return Array.isArray(value) ? value[0] : value
    },
  }
}

/** Headers that may occur once: the parser would join two values. */
const singleHeaders: readonly (readonly [header: string, name: string])[] = [
  [subjectHeader, 'X-Gslb-Subject'],
  [overrideHeader, 'X-Gslb-Override'],
  [effectHeader, 'X-Gslb-Effect'],
]

/** @returns a refusal for a header that occurs more than once; null: there is none */
export function twiceIn({ raw }: FastifyRequest): Reply | null {
  const names = raw.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  const twice = singleHeaders.find(
    ([header]) => names.indexOf(header) !== names.lastIndexOf(header),
  )
  if (twice === undefined) return null
  return refused(400, `the header ${twice[1]} is there more than once; give it once`)
}

/** @param row null: a refusal that belongs to no row */
export function send(reply: FastifyReply, row: Route | null, answer: Reply): FastifyReply {
  const { status, body, headers = {} } = answer
  for (const [name, value] of Object.entries(headers)) void reply.header(name, value)
  void reply.code(status)
  // A response without a body must not have a content type.
  if (body === undefined) return reply.removeHeader('content-type').send()
  if (headers['content-type'] === undefined) {
    void reply.type(row?.responses[status]?.contentType ?? json)
  }
  return reply.send(body)
}
