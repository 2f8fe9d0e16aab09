// Keeps a delay of this process from being taken for a slow client: after a delay, Node runs its
// timers before it reads its sockets.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { answerClientError } from '#http/errors.ts'

export class OwnDelay {
  /** The newest request of each connection. */
  readonly #newest = new WeakMap<Socket, IncomingMessage>()

  attach(server: Server): void {
    const remember = (request: IncomingMessage): unknown =>
      this.#newest.set(request.socket, request)
    server.on('request', remember)
    server.on('upgrade', remember)
    // Called for an idle connection. Without this listener, Node closes it at once.
    server.on('timeout', (socket: Socket) => {
      const before = socket.bytesRead
      afterReading(() => {
        if (socket.bytesRead === before) socket.destroy()
      })
    })
  }

  /** Answers a client error, except when the whole request has arrived in the meantime. */
  readonly answerClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      answerClientError(error, socket)
      return
    }
    const before = this.#newest.get(socket)
    const wasComplete = before?.complete === true
    afterReading(() => {
      const request = this.#newest.get(socket)
      const isRead = request?.complete === true && !(request === before && wasComplete)
      if (!isRead) answerClientError(error, socket)
    })
  }
}

/** Runs after sockets are read, in the same turn of the event loop; timers run before. */
function afterReading(look: () => void): void {
  setImmediate(look)
}
