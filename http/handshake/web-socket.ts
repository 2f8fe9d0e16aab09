// The WebSocket handshake (RFC 6455 section 4). It goes through the table of routes like any other
// request; an answer of 101 upgrades the connection.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { refuseSocket } from '#http/errors.ts'
import type { FeedSocket } from '#http/feed-socket.ts'
import { apiLimits } from '#http/limits.ts'

const http = process.getBuiltinModule('node:http')

/** Where a handshake is possible; anywhere else `Upgrade` means nothing (RFC 9110 section 7.8). */
export const feedPath = '/api/v1/ws'

interface Handshake {
  readonly socket: Socket
  readonly head: Buffer
}

/** Handshakes without a response yet. */
const handshakes = new WeakMap<IncomingMessage, Handshake>()

export function isHandshake(request: IncomingMessage): boolean {
  const { method, url = '', headers } = request
  const isFeed = method === 'GET' && url.split('?', 1)[0] === feedPath
  // After a body, Node would pass on something that is no socket.
  const { upgrade, 'content-length': length, 'transfer-encoding': coding } = headers
  const hasBody = length !== undefined || coding !== undefined
  return isFeed && !hasBody && upgrade?.toLowerCase() === 'websocket'
}

/** Whether a 101 is possible. */
export function isWaiting(request: IncomingMessage): boolean {
  return handshakes.has(request)
}

export class Handshakes {
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Most messages are short, and a dictionary for each client would cost more than it saves.
    perMessageDeflate: false,
    maxPayload: apiLimits.feed.incomingBytesMax,
  })

  constructor() {
    this.#server.on('wsClientError', (error, socket) => refuseSocket(socket, 400, error.message))
  }

  attach(app: FastifyInstance): void {
    app.server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
      const socket = duplex as Socket
      // HTTP no longer handles its errors: a client that disconnects would end the process.
      socket.on('error', () => socket.destroy())
      handshakes.set(request, { socket, head })
      const response = new http.ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      response.on('finish', () => socket.end(() => socket.destroy()))
      app.routing(request, response)
    })
  }

  /** Answers 101, or refuses what RFC 6455 does not permit. */
  complete(
    request: IncomingMessage,
    response: ServerResponse,
    take: (socket: FeedSocket) => void,
  ): void {
    const handshake = handshakes.get(request)
    if (handshake === undefined) throw new Error('101 is an answer to a handshake only')
    handshakes.delete(request)
    const { socket, head } = handshake
    response.detachSocket(socket)
    this.#server.handleUpgrade(request, socket, head, (webSocket) => take(feedSocket(webSocket)))
  }
}

function feedSocket(webSocket: WebSocket): FeedSocket {
  // A client's error ends its connection with a code of RFC 6455.
  webSocket.on('error', () => undefined)
  return {
    bufferedBytes: () => webSocket.bufferedAmount,
    send: (message, sent) =>
      webSocket.send(message, { binary: false }, (error) => {
        if (!error) sent()
      }),
    ping: () => webSocket.ping(),
    close: (code, reason) => webSocket.close(code, reason),
    terminate: () => webSocket.terminate(),
    onClosed: (handler) => void webSocket.on('close', handler),
    onReceived: (handler) => {
      for (const event of ['message', 'ping', 'pong'] as const) webSocket.on(event, handler)
    },
  }
}
