// A UDP socket that sends one query after the other, to see that a server is ready or has changed.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeQuery } from '../data/query-wire.ts'

const replyPatienceMs = 200

export class QueryClient {
  readonly #socket: Socket = createSocket('udp4')
  readonly #port: number
  #id = 0
  #isClosed = false

  constructor(port: number) {
    this.#port = port
    this.#socket.on('error', () => undefined)
  }

  async open(): Promise<void> {
    this.#socket.connect(this.#port, '127.0.0.1')
    await once(this.#socket, 'connect')
  }

  /** @returns the reply's octets; undefined when none arrived in time */
  async ask(qname: string): Promise<Buffer | undefined> {
    const id = (this.#id = (this.#id + 1) & 0xffff)
    return new Promise((resolve) => {
      const finish = (reply: Buffer | undefined): void => {
        clearTimeout(patience)
        this.#socket.off('message', receive)
        resolve(reply)
      }
      const receive = (reply: Buffer): void => {
        if (reply.readUInt16BE(0) === id) finish(reply)
      }
      const patience = setTimeout(() => finish(undefined), replyPatienceMs)
      this.#socket.on('message', receive)
      this.#socket.send(encodeQuery(qname, { id }))
    })
  }

  /**
   * Queries every `everyMs` until a reply satisfies `isIt`.
   *
   * @returns time of that reply by `performance.now()`.
   * @throws after `patienceMs`
   */
  async waitFor(
    qname: string,
    isIt: (reply: Buffer) => boolean,
    { everyMs = 1, patienceMs = 30_000, isGivenUp = (): boolean => false } = {},
  ): Promise<number> {
    const deadline = performance.now() + patienceMs
    while (performance.now() < deadline && !this.#isClosed && !isGivenUp()) {
      const reply = await this.ask(qname)
      if (reply !== undefined && isIt(reply)) return performance.now()
      await sleep(everyMs)
    }
    throw new Error(`waited in vain for the answer to ${qname}`)
  }

  close(): void {
    this.#isClosed = true
    this.#socket.close()
  }
}

/** NOERROR, and at least one record in the answer. */
export function hasAnswer(reply: Buffer): boolean {
  return (reply[3]! & 0x0f) === 0 && reply.readUInt16BE(6) > 0
}

/** The only record is an A record with this address. Without EDNS it ends the message. */
export function answersWith(address: string): (reply: Buffer) => boolean {
  const octets = Buffer.from(address.split('.').map(Number))
  return (reply) => hasAnswer(reply) && reply.subarray(-4).equals(octets)
}
