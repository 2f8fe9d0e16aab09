// A client that asks the same question at a steady pace, with or without a DNS cookie, and counts
// which answers were whole.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeQuery } from '../data/query-wire.ts'
import type { QueryOptions } from '../data/query-wire.ts'

interface SteadyPlan {
  readonly port: number
  /** The client's own, of 127.0.0.0/8. */
  readonly address: string
  readonly qname: string
  readonly query: QueryOptions
  readonly everyMs: number
  readonly hasCookie: boolean
}

export interface SteadyCounts {
  readonly asked: number
  /** Answers that are not truncated. */
  readonly whole: number
  readonly truncated: number
}

/** RFC 9018: eight octets of the client, sixteen of the server. */
const clientBytes = 8
const cookieBytes = 24
const cookieCode = 10
const cookieTries = 100
const lastRepliesMs = 500

export class SteadyClient {
  readonly #plan: SteadyPlan
  readonly #socket: Socket = createSocket('udp4')
  #cookie: Uint8Array | undefined
  #asked = 0
  #whole = 0
  #truncated = 0
  #timer: NodeJS.Timeout | undefined

  constructor(plan: SteadyPlan) {
    this.#plan = plan
    if (plan.hasCookie) this.#cookie = randomBytes(clientBytes)
  }

  /** Opens the socket; with a cookie, asks for the server's part. */
  async open(): Promise<void> {
    const { address } = this.#plan
    await new Promise<void>((resolve) => this.#socket.bind(0, address, resolve))
    while (this.#plan.hasCookie && this.#cookie!.length === clientBytes) {
      if (this.#asked === cookieTries) throw new Error('the server gives no cookie')
      this.#socket.once('message', (reply) => (this.#cookie = cookieOf(reply) ?? this.#cookie))
      this.#ask()
      await sleep(this.#plan.everyMs)
    }
    this.#asked = 0
    this.#socket.on('message', (reply) => {
      if ((reply[2]! & 0x02) === 0) this.#whole++
      else this.#truncated++
    })
  }

  start(): void {
    this.#timer = setInterval(() => this.#ask(), this.#plan.everyMs)
  }

  async stop(): Promise<SteadyCounts> {
    clearInterval(this.#timer)
    await sleep(lastRepliesMs)
    this.#socket.close()
    return { asked: this.#asked, whole: this.#whole, truncated: this.#truncated }
  }

  #ask(): void {
    const { qname, query, port } = this.#plan
    const cookie = this.#cookie === undefined ? {} : { cookie: this.#cookie }
    this.#asked++
    const message = encodeQuery(qname, { ...query, id: this.#asked & 0xffff, ...cookie })
    this.#socket.send(message, port, '127.0.0.1')
  }
}

/** The cookie of a reply whose last option is one. */
function cookieOf(reply: Buffer): Buffer | undefined {
  const at = reply.length - cookieBytes
  const isCookie =
    reply.readUInt16BE(at - 4) === cookieCode && reply.readUInt16BE(at - 2) === cookieBytes
  return isCookie ? Buffer.from(reply.subarray(at)) : undefined
}
