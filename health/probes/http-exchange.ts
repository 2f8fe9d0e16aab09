// Sends one HTTP request on an open connection, and parses the head of the response.
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { Attempt } from './attempt.ts'
import { healthLimits } from '#health/limits.ts'

// Not imported: an import would load WebSocket as well, 40 ms of CPU in each thread.
const { request } = process.getBuiltinModule('node:http')

interface ProbeRequest {
  readonly method: HealthCheckModel['httpMethod']
  /** Path and query. */
  readonly path: string
  /** All headers, including `host`. */
  readonly headers: OutgoingHttpHeaders
  /** Empty: no body. */
  readonly body: string
}

/** @param onResponse receives the final response, whose body has not been read */
export function exchange(
  socket: Socket,
  { method, path, headers, body }: ProbeRequest,
  attempt: Attempt,
  onResponse: (response: IncomingMessage) => void,
): void {
  let sent: ClientRequest
  try {
    sent = request({
      createConnection: () => socket,
      method,
      path,
      headers: {
        'user-agent': 'gslbd-health',
        accept: '*/*',
        'accept-encoding': 'identity',
        connection: 'close',
        ...headers,
      },
      maxHeaderSize: healthLimits.responseHeaderBytesMax,
    })
  } catch {
    // node:http refuses a line break or a space in the request's head.
    attempt.fail('the check holds a character that cannot be sent')
    return
  }
  let interimCount = 0
  sent.on('information', () => {
    if (++interimCount > healthLimits.interimResponsesMax)
      attempt.fail('too many interim responses')
  })
  sent.on('response', onResponse)
  sent.on('upgrade', onResponse)
  sent.on('error', (error) => {
    attempt.fail(error)
  })
  if (body === '') sent.end()
  else sent.end(body)
}
