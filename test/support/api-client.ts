// HTTP calls to the API of a running daemon, each over its own connection: a kept one may be closed
// just when a request leaves.
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

export interface ApiReply<Body> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** `{}` where there is none. */
  readonly body: Body
}

export interface ApiCall {
  /** Token of a session, a tenant or the system; '' for none. */
  readonly bearer?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** @param path below `/api/v1` */
export async function callApi<Body = { readonly error: string }>(
  { apiPort }: { readonly apiPort: number },
  method: string,
  path: string,
  { bearer = '', body, headers = {} }: ApiCall = {},
): Promise<ApiReply<Body>> {
  const sent = request({
    host: '127.0.0.1',
    port: apiPort,
    agent: false,
    method,
    path: `/api/v1${path}`,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
    },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const content = await text(response)
  const parsed = (content === '' ? {} : JSON.parse(content)) as Body
  return { status: response.statusCode ?? 0, headers: response.headers, body: parsed }
}
