// Asks the same question again and again over UDP: none may stay without an answer.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeMessage, query } from './dns/message.ts'
import type { QueryParts } from './dns/message.ts'

/** Each with one query on its way; sockets, since one talks to one responder. */
const sockets = 8
/** Between an answer and the next query: the machine has others to run. */
const pauseMs = 10
/** A query that has no answer by then is lost. */
const patienceMs = 15_000

export interface LoadResult {
  readonly asked: number
  readonly lost: number
  /** The different answers, addresses only, in the order in which each came first. */
  readonly answers: readonly string[]
}

export class QueryLoad {
  readonly #port: number
  readonly #question: string
  readonly #parts: QueryParts
  readonly #answers = new Set<string>()
  #isOver = false
  #asked = 0
  #lost = 0
  #running: Promise<unknown> = Promise.resolve()

  constructor(port: number, question: string, parts: QueryParts = {}) {
    this.#port = port
    this.#question = question
    this.#parts = parts
  }

  start(): void {
    this.#running = Promise.all(Array.from({ length: sockets }, () => this.#ask()))
  }

  get asked(): number {
    return this.#asked
  }

  async stop(): Promise<LoadResult> {
    this.#isOver = true
    await this.#running
    return { asked: this.#asked, lost: this.#lost, answers: [...this.#answers] }
  }

  async #ask(): Promise<void> {
    const socket = createSocket('udp4')
    socket.connect(this.#port, '127.0.0.1')
    await once(socket, 'connect')
    while (!this.#isOver) {
      await this.#askOnce(socket)
      await delay(pauseMs)
    }
    socket.close()
  }

  async #askOnce(socket: Socket): Promise<void> {
    this.#asked++
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(patienceMs) })
    socket.send(query(this.#question, this.#parts))
    try {
      const [bytes] = (await answered) as [Buffer]
      const { answer, rcode } = decodeMessage(bytes)
      const addresses = answer.map(({ rdataText }) => rdataText).join(' ')
      this.#answers.add(addresses === '' ? `rcode ${rcode}` : addresses)
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'AbortError') throw error
      this.#lost++
    }
  }
}
