// Sends the same query repeatedly over UDP: each must be answered.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeMessage, query } from './dns/message.ts'
import type { QueryParts } from './dns/message.ts'

/** Sockets with one query each; several, since each is served by one responder. */
const sockets = 8
/** Pause between an answer and the next query, which leaves CPU to others. */
const pauseMs = 10
/** Time after which a query counts as lost. */
const patienceMs = 15_000

interface LoadResult {
  readonly asked: number
  readonly lost: number
  /** Distinct answers, addresses only, in the order of first appearance. */
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
