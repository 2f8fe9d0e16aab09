// A vendor's licence server on this machine, which answers as a test wants and records its
// requests.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Asked {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface LicenceServerStub {
  readonly url: string
  readonly asked: readonly Asked[]
  /** Sets the answer. */
  readonly answers: (status: number, body?: string) => void
  /** Accepts requests without answering. */
  readonly hangs: () => void
  readonly stop: () => Promise<void>
}

export async function startLicenceServer(): Promise<LicenceServerStub> {
  const asked: Asked[] = []
  let reply = (response: ServerResponse): void => void response.writeHead(404).end()
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      asked.push({ method: request.method ?? '', path: request.url ?? '', body })
      reply(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answers: (status, body = '') => {
      reply = (response) => {
        const elsewhere = status === 302 ? { location: '/api/v1/elsewhere' } : {}
        response.writeHead(status, { 'content-type': 'application/json', ...elsewhere }).end(body)
      }
    },
    hangs: () => {
      reply = () => undefined
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
