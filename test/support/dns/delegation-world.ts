// Name servers of a small world on loopback: a root, a zone below it, and whatever a test adds.
import { createSocket } from 'node:dgram'
import type { RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { DomainResult } from '#state/ports/domains.ts'
import { systemClock } from '#lib/clock.ts'
import { checkDelegation } from '#zones/delegation/check.ts'
import type { WantedDelegation } from '#zones/delegation/check.ts'
import { RootWalk } from '#zones/delegation/from-root.ts'
import { Questions } from '#zones/delegation/questions.ts'
import { freePort } from '#test/support/free-port.ts'
import { typeNumber } from './codes.ts'
import { decodeMessage, encodeMessage } from './message.ts'
import type { Message, QueryParts } from './message.ts'
import { encodeName } from './name.ts'
import type { ResourceRecord } from './record.ts'

/** undefined: no answer. Octets are sent as they are. */
export type Handler = (query: Message, isTcp: boolean) => QueryParts | Buffer | undefined

/** Parses `shop.test. NS ns1.shop.test.` or `ns1.shop.test. A 127.0.0.4`. */
export function record(text: string): ResourceRecord {
  const [name = '', type = '', ...data] = text.split(' ')
  const rdata =
    type === 'A'
      ? Buffer.from(data[0]!.split('.').map(Number))
      : type === 'NS'
        ? encodeName(data[0]!)
        : Buffer.from(data.join(''), 'hex')
  return { name, type: typeNumber(type), class: 1, ttl: 60, rdata, rdataText: '' }
}
export const records = (...texts: readonly string[]): ResourceRecord[] => texts.map(record)

/** A server of a zone that delegates: `cuts` by name, each with its NS and glue. */
export function parentOf(
  cuts: Readonly<Record<string, { ns: readonly string[]; glue?: readonly string[]; ds?: string }>>,
): Handler {
  return ({ questions: [question] }) => {
    const asked = question!.name.toLowerCase()
    const cut = Object.keys(cuts).find((name) => asked === name || asked.endsWith(`.${name}`))
    if (cut === undefined) return { aa: true, rcode: 3 }
    const { ns, glue = [], ds } = cuts[cut]!
    if (question!.type === typeNumber('DS') && asked === cut) {
      return { aa: true, answer: ds === undefined ? [] : records(`${cut} DS ${ds}`) }
    }
    return {
      authority: records(...ns.map((name) => `${cut} NS ${name}`)),
      additional: records(...glue),
    }
  }
}

/** A server of the zone itself. */
export function childOf(zone: string, ...ns: readonly string[]): Handler {
  return ({ questions: [question] }) =>
    question!.name.toLowerCase() === zone
      ? { aa: true, answer: records(...ns.map((name) => `${zone} NS ${name}`)) }
      : { rcode: 5 }
}

export class DelegationWorld {
  readonly port: number
  readonly asked: string[] = []
  /** Time for a question: longer than a busy machine stalls this process. */
  askMs = 10_000
  readonly #closers: (() => void)[] = []
  readonly #handlers = new Map<string, Handler>()

  private constructor(port: number) {
    this.port = port
  }

  static async make(): Promise<DelegationWorld> {
    return new DelegationWorld(await freePort())
  }

  /** @param host as in `127.0.0.2`; a second call replaces the handler */
  async serve(host: string, handler: Handler): Promise<void> {
    const isNew = !this.#handlers.has(host)
    this.#handlers.set(host, handler)
    if (!isNew) return
    const socket = createSocket('udp4')
    socket.on('message', (bytes: Buffer, { port, address }: RemoteInfo) => {
      const reply = this.#reply(host, bytes, false)
      if (reply !== undefined) socket.send(reply, port, address)
    })
    socket.bind(this.port, host)
    await once(socket, 'listening')
    const server = createServer((connection) => {
      connection.on('error', () => undefined)
      connection.on('data', (bytes: Buffer) => {
        const reply = this.#reply(host, bytes.subarray(2), true)
        if (reply === undefined) return
        const length = Buffer.alloc(2)
        length.writeUInt16BE(reply.length)
        connection.write(Buffer.concat([length, reply]))
      })
    }).listen(this.port, host)
    await once(server, 'listening')
    this.#closers.push(() => {
      socket.close()
      server.close()
    })
  }

  #reply(host: string, bytes: Buffer, isTcp: boolean): Buffer | undefined {
    const query = decodeMessage(bytes)
    const { name, type } = query.questions[0]!
    this.asked.push(`${host} ${name} ${type}${isTcp ? ' tcp' : ''}`)
    const said = this.#handlers.get(host)!(query, isTcp)
    if (said === undefined || Buffer.isBuffer(said)) return said
    const { id, questions } = query
    return encodeMessage({ id, qr: true, questions, ...said })
  }

  /** Call it when a server of this world stays silent: nothing waits long then. */
  expectSilence(): void {
    this.askMs = 500
  }

  check(wanted: WantedDelegation, allowLocal = true): Promise<DomainResult> {
    const clock = systemClock
    const { port, askMs } = this
    const may = { allowLocal, allowPrivate: false, own: [] }
    const questions = new Questions({ port, ...may, askMs, clock })
    const hints = [{ name: 'a.root.', addresses: ['127.0.0.2'] }]
    const finder = new RootWalk({ hints, clock }).finder(questions)
    return checkDelegation(wanted, { finder, questions, nowMs: clock.nowMs })
  }

  close(): void {
    for (const close of this.#closers.splice(0)) close()
  }
}
