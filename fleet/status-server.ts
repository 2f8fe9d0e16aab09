// Serves HTTP on a node without an API: health, readiness and metrics.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

// Not imported: an import would load WebSocket as well, 40 ms of CPU in each thread.
const { createServer } = process.getBuiltinModule('node:http')

export interface StatusAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Routes by path. */
type StatusRoutes = Readonly<
  Record<string, (authorization: string | undefined) => StatusAnswer | Promise<StatusAnswer>>
>

export const jsonAnswer = (status: number, body: unknown): StatusAnswer => ({
  status,
  type: 'application/json; charset=utf-8',
  text: JSON.stringify(body),
})

const limits = {
  headerBytesMax: 16 * 1024,
  connectionsMax: 64,
  requestTimeoutMs: 10_000,
  requestsPerConnectionMax: 1_000,
} as const

export class StatusServer {
  readonly #routes: StatusRoutes
  readonly #onFault: (error: unknown) => void
  readonly #server: Server

  /** The listening server. */
  get server(): Server {
    return this.#server
  }

  constructor(routes: StatusRoutes, onFault: (error: unknown) => void) {
    this.#routes = routes
    this.#onFault = onFault
    this.#server = createServer(
      {
        maxHeaderSize: limits.headerBytesMax,
        requestTimeout: limits.requestTimeoutMs,
        headersTimeout: limits.requestTimeoutMs,
      },
      (request, response) => void this.#answer(request, response),
    )
    this.#server.maxConnections = limits.connectionsMax
    this.#server.maxRequestsPerSocket = limits.requestsPerConnectionMax
  }

  /**
   * Errors: a sentence for the operator.
   *
   * @param handed descriptor of a socket that listens there already; the server closes it
   */
  listen(host: string, port: number, handed?: number): Promise<Result<number, string>> {
    const place = handed === undefined ? { host, port } : { fd: handed }
    return new Promise((resolve) => {
      this.#server.once('error', (error) => {
        resolve(err(`nothing can listen on ${host} port ${port}: ${error.message}`))
      })
      this.#server.listen(place, () => {
        const address = this.#server.address()
        resolve(ok(typeof address === 'object' && address !== null ? address.port : port))
      })
    })
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, text, headers = {} } = await this.#answerTo(request)
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...headers,
    })
    response.end(request.method === 'HEAD' ? undefined : text)
  }

  async #answerTo({ method = '', url = '', headers }: IncomingMessage): Promise<StatusAnswer> {
    const path = url.split('?', 1)[0] ?? ''
    const route = Object.hasOwn(this.#routes, path) ? this.#routes[path] : undefined
    if (route === undefined) {
      return jsonAnswer(404, { error: `there is no ${method} ${path.slice(0, 200)}` })
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return jsonAnswer(405, { error: `${method} is not possible here; allowed: GET, HEAD` })
    }
    try {
      return await route(headers.authorization)
    } catch (error) {
      this.#onFault(error)
      return jsonAnswer(500, { error: 'internal error; see the log' })
    }
  }
}
