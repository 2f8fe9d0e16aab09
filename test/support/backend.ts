// Backends controlled by tests: real TCP, HTTP and HTTPS servers on free ports.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

export interface Backend {
  readonly address: string
  readonly port: number
  /** Connections accepted so far. */
  readonly connectionCount: () => number
  /** Connections open now. */
  readonly openCount: () => number
  readonly close: () => Promise<void>
}

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A certificate of test/fixtures/tls, whose README lists the names. */
export function testCertificate(name: 'named' | 'addressed' | 'unknown'): Certificate {
  const read = (part: string): string =>
    readFileSync(new URL(`../fixtures/tls/${name}.${part}.pem`, import.meta.url), 'utf8')
  return { key: read('key'), cert: read('cert') }
}

/** A TCP server whose every connection is given to `onConnection`. */
export function startTcpBackend(
  onConnection: (socket: Socket) => void = () => undefined,
  port = 0,
  address = '127.0.0.1',
): Promise<Backend> {
  return listen(createTcpServer(onConnection), port, address)
}

/** A TCP server that answers the first bytes of any client by `write`. */
export function startRawBackend(write: (socket: Socket) => void): Promise<Backend> {
  return startTcpBackend((socket) =>
    socket.once('data', () => {
      write(socket)
    }),
  )
}

interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly host: string
  /** Server name of the TLS handshake; empty when the client sent none. */
  readonly sni: string
}

export interface HttpBackend extends Backend {
  readonly requests: readonly SeenRequest[]
  /** Replaces the listener. */
  readonly answer: (listener: RequestListener) => void
}

/** Answers 200 `ok` at first; HTTPS when a certificate is given. */
export async function startHttpBackend(
  options: { certificate?: Certificate; port?: number; address?: string } = {},
): Promise<HttpBackend> {
  const requests: SeenRequest[] = []
  let listener: RequestListener = (_request, response) => response.end('ok')
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { servername } = request.socket as Partial<TLSSocket>
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      host: request.headers.host ?? '',
      sni: typeof servername === 'string' ? servername : '',
    })
    listener(request, response)
  }
  const { certificate, port = 0, address = '127.0.0.1' } = options
  const server =
    certificate === undefined
      ? createHttpServer(handle)
      : createHttpsServer({ key: certificate.key, cert: certificate.cert }, handle)
  server.on('tlsClientError', () => undefined)
  const backend = await listen(server, port, address)
  return {
    ...backend,
    requests,
    answer: (next) => {
      listener = next
    },
  }
}

/** A port of 127.0.0.1 that refuses connections. */
export async function refusingPort(): Promise<number> {
  const backend = await startTcpBackend()
  await backend.close()
  return backend.port
}

async function listen(server: Server, port: number, address: string): Promise<Backend> {
  const open = new Set<Socket>()
  let connectionCount = 0
  server.on('connection', (socket: Socket) => {
    connectionCount++
    open.add(socket)
    // Probes disconnect abruptly; that is no fault of the backend.
    socket.on('error', () => undefined)
    socket.once('close', () => open.delete(socket))
  })
  server.listen(port, address)
  await once(server, 'listening')
  return {
    address,
    port: (server.address() as AddressInfo).port,
    connectionCount: () => connectionCount,
    openCount: () => open.size,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
