// Sends one HTTP request on a connection of its own, and has its response read.
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'

// Not imported: an import would load WebSocket as well, 40 ms of CPU in each thread.
const { request: requestHttp } = process.getBuiltinModule('node:http')
/** Loaded for TLS only: it takes 20 ms. */
const nodeHttps = () => process.getBuiltinModule('node:https')

/**
 * Follows no redirect. The connection ends with `read`.
 *
 * @param options with a signal: time is limited by the caller
 * @param onSent called with the request, before its response
 * @throws what the request and `read` throw
 */
export async function exchange<T>(
  url: URL,
  options: RequestOptions,
  body: string | undefined,
  read: (response: IncomingMessage) => Promise<T>,
  onSent: (request: ClientRequest) => void = () => undefined,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const send = url.protocol === 'https:' ? nodeHttps().request : requestHttp
  const request = send(url, { agent: false, ...options })
  request.once('response', resolve).on('error', reject)
  onSent(request)
  request.end(body)
  try {
    return await read(await promise)
  } finally {
    request.destroy()
  }
}
