// A load of DNS over HTTPS: a few connections that each have so many requests under way.
// Run by `httpsLoad`: prints how many were answered as JSON.
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { runForJson } from '../servers/program.ts'
import { HttpsReplies, HttpsRequests, opening, settingsAck } from './https-frames.ts'
import type { HttpsMethod } from './https-frames.ts'

export interface HttpsLoad {
  readonly port: number
  readonly path: string
  /** In hexadecimal digits. */
  readonly query: string
  readonly method: HttpsMethod
  readonly connections: number
  /** Requests that each connection has under way. */
  readonly outstanding: number
  readonly seconds: number
}

export interface HttpsLoadResult {
  readonly answered: number
  /** Answers with another status than 200. */
  readonly failed: number
  readonly seconds: number
}

/** @param core the only one that the load runs on */
export async function httpsLoad(load: HttpsLoad, core: number): Promise<HttpsLoadResult> {
  return runForJson<HttpsLoadResult>([import.meta.filename, JSON.stringify(load)], { core })
}

class Connection {
  readonly replies: HttpsReplies
  readonly #socket: TLSSocket
  readonly #requests: HttpsRequests
  #isOver = false

  constructor(socket: TLSSocket, load: HttpsLoad) {
    this.#socket = socket
    this.#requests = new HttpsRequests(load.method, load.path, Buffer.from(load.query, 'hex'))
    this.replies = new HttpsReplies(() => socket.write(settingsAck))
    socket.on('data', (chunk: Buffer) => {
      const before = this.replies.ended
      this.replies.take(chunk)
      if (!this.#isOver) this.ask(this.replies.ended - before)
    })
  }

  ask(count: number): void {
    if (count === 0) return
    this.#socket.write(Buffer.concat(Array.from({ length: count }, () => this.#requests.next())))
  }

  end(): void {
    this.#isOver = true
    this.#socket.destroy()
  }
}

async function open(load: HttpsLoad): Promise<Connection> {
  const options = { rejectUnauthorized: false, ALPNProtocols: ['h2'] }
  const socket = connect({ host: '127.0.0.1', port: load.port, ...options })
  await once(socket, 'secureConnect')
  socket.on('error', () => undefined)
  socket.write(opening())
  return new Connection(socket, load)
}

async function run(load: HttpsLoad): Promise<HttpsLoadResult> {
  const connections: Connection[] = []
  for (let i = 0; i < load.connections; i++) connections.push(await open(load))
  const startedMs = performance.now()
  for (const connection of connections) connection.ask(load.outstanding)
  await sleep(load.seconds * 1_000)
  const seconds = (performance.now() - startedMs) / 1_000
  for (const connection of connections) connection.end()
  const sum = (of: (replies: HttpsReplies) => number): number =>
    connections.reduce((total, { replies }) => total + of(replies), 0)
  const answered = sum(({ ended }) => ended)
  return { answered, failed: answered - sum(({ good }) => good), seconds }
}

if (import.meta.main) {
  const result = await run(JSON.parse(process.argv[2] ?? '') as HttpsLoad)
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
