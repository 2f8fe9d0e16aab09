// An HTTP server that answers each request by a test's function, and records it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { parseJson } from '#lib/text/json.ts'

export interface AskedOf {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed where it is JSON, else its text. */
  readonly body: unknown
}

export interface Given {
  readonly status: number
  /** Text is sent as it is, other values as JSON; undefined: no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface StandIn {
  readonly url: string
  readonly asked: AskedOf[]
}

/** @param answer 'hang': never answers */
export async function startStandIn(
  answer: (asked: AskedOf) => Given | 'hang' | Promise<Given>,
): Promise<StandIn> {
  const asked: AskedOf[] = []
  const server = createServer((request, response) => {
    void text(request).then(async (content) => {
      const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://x')
      const one: AskedOf = {
        ...{ method: request.method ?? '', path, query, headers: request.headers },
        body: content === '' ? undefined : (parseJson(content) ?? content),
      }
      asked.push(one)
      const given = await answer(one)
      if (given === 'hang') return
      const { status, body, headers = {} } = given
      const isText = typeof body === 'string'
      response.writeHead(status, {
        'content-type': isText ? 'text/html' : 'application/json',
        ...headers,
      })
      response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
