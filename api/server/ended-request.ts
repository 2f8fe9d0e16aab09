// Tells of a request whose response was sent, for those who measure requests.
import type { FastifyReply, FastifyRequest } from 'fastify'

interface EndedRequest {
  readonly requestId: string
  readonly method: string
  /** Path in the table of routes. */
  readonly route: string
  readonly status: number
  readonly elapsedMs: number
  /** The header of W3C Trace Context, as it came; undefined: there is none. */
  readonly traceparent: string | undefined
}

/** Receives requests that a response was sent to; never throws or waits. */
export interface ApiServerTimes {
  readonly ended: (request: EndedRequest) => void
}

/** @param route path in the table of routes */
export function endedRequestOf(
  { id: requestId, method, headers }: FastifyRequest,
  { statusCode: status, elapsedTime: elapsedMs }: FastifyReply,
  route: string,
): EndedRequest {
  const { traceparent: given } = headers
  const traceparent = typeof given === 'string' ? given : undefined
  return { requestId, method, route, status, elapsedMs, traceparent }
}
