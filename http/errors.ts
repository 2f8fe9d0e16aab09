// The error format of the API, `{"error": …}`, for refusals of every layer.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#lib/log.ts'
import { patchTypes } from './body.ts'
import { apiLimits } from './limits.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

interface ErrorBody {
  readonly error: string
}

/**
 * For refusals of the framework, and failures whose cause only the log gets.
 *
 * @param whoOf fields of the caller for the log
 */
export function answerError(log: Log, whoOf: (request: FastifyRequest) => object = () => ({})) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const status = error.statusCode ?? 500
    if (status < 500) {
      // RFC 5789 section 2.2.
      const isPatch = status === 415 && request.method === 'PATCH'
      if (isPatch) void reply.header('accept-patch', patchTypes.join(', '))
      const limit = request.routeOptions.bodyLimit
      const isLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
      const tooLarge = `the body is larger than ${limit} octets, which is the limit here`
      void reply.code(status).send(body(isLarge ? tooLarge : error.message))
      return
    }
    const { method, routeOptions, id: requestId } = request
    const fields = { err: error, method, route: routeOptions.url, requestId, ...whoOf(request) }
    log.error(fields, 'api failed')
    if (status !== 503) return void reply.code(status).send(body('internal error; see the log'))
    void reply.code(503).header('retry-after', String(apiLimits.retryAfter.storeSeconds))
    void reply.send(body(lateSentence(request.method)))
  }
}

/** Work that was begun goes on. */
function lateSentence(method: string): string {
  const isRead = method === 'GET' || method === 'HEAD'
  const warning = '; a change may still be made: look before you try again'
  return `the answer took too long${isRead ? '' : warning}`
}

/** For a URL that cannot be decoded, or with ids that are too long to exist. */
export function answerBadUrl(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') {
    const path = request.url.split('?', 1)[0] ?? ''
    const sentence = `there is no ${request.method} ${path.slice(0, pathShownMax)}…`
    void reply.code(404).send(body(sentence))
    return
  }
  void reply.code(error.statusCode ?? 400).send(body('the URL is malformed'))
}

const pathShownMax = 200

const clientErrors: Readonly<Record<string, readonly [status: number, sentence: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long'],
}

/** For octets that are no HTTP: without a request, the response is written by hand. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, sentence] = clientErrors[error.code ?? ''] ?? [400, 'the request is not HTTP/1.1']
  refuseSocket(socket, status, sentence)
}

/** A refusal on a connection that the framework does not serve. */
export function refuseSocket(socket: Duplex, status: number, sentence: string): void {
  const text = JSON.stringify(body(sentence))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
}

const body = (error: string): ErrorBody => ({ error })
