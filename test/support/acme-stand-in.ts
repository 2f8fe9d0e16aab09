// A stand-in for a CA that speaks https, and so much of RFC 8555 as a test tells it.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { tempDir } from './temp-dir.ts'
import { makeTlsFiles } from './tls-files.ts'

export interface Said {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** @param request.payload what was signed; undefined: nothing */
export type Answer = (
  path: string,
  base: string,
  request: { readonly payload: unknown },
) => Said | 'hang'

export const problem = (
  type: string,
  status: number,
  more: Readonly<Record<string, string>> = {},
): Said => ({
  ...{ status, body: { type: `urn:ietf:params:acme:error:${type}`, detail: `said ${type}.` } },
  headers: { 'content-type': 'application/problem+json', ...more },
})

export async function standInAcme(answer: Answer) {
  const files = makeTlsFiles(tempDir('acme-ca'), 'localhost')
  const [cert, key] = [readFileSync(files.certFile), readFileSync(files.keyFile)]
  let base = ''
  let open = 0
  let mostOpen = 0
  const server = createServer({ cert, key }, (request, response) => void reply(request, response))
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    mostOpen = Math.max(mostOpen, ++open)
    response.on('close', () => open--)
    const payload = await payloadOf(request)
    const said = answer(request.url ?? '', base, { payload })
    if (said === 'hang') return
    const { status, body, headers } = said
    response.writeHead(status, {
      ...{ 'content-type': 'application/json', 'replay-nonce': 'bm9uY2U', location: `${base}/at` },
      ...headers,
    })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  base = `https://localhost:${(server.address() as AddressInfo).port}`
  return { base, ca: cert.toString(), mostOpen: () => mostOpen }
}

async function payloadOf(request: IncomingMessage): Promise<unknown> {
  const { payload } = fieldsOf(parseJson(await text(request)))
  if (typeof payload !== 'string') return undefined
  return parseJson(Buffer.from(payload, 'base64url').toString())
}
