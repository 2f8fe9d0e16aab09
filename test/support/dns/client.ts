// DNS clients for tests: one UDP exchange, or one TCP connection kept open, each with a deadline.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createConnection, isIPv6 } from 'node:net'
import type { Socket } from 'node:net'
import { decodeMessage, query } from './message.ts'
import type { Message, QueryParts } from './message.ts'
import { uint16 } from './rdata.ts'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

const deadlineMs = 10_000

/** Sends `bytes` and waits for the datagram that comes back. @throws after the deadline */
export async function exchangeUdp(server: Endpoint, bytes: Buffer): Promise<Buffer> {
  const reply = await firstUdpReply(server, [bytes], deadlineMs)
  if (reply === undefined) throw new Error(`no answer over UDP to ${bytes.toString('hex')}`)
  return reply
}

/**
 * Sends a datagram and, from the same socket, a good query: a server that answers only the second
 * has dropped the first. Their ids must differ.
 *
 * @returns undefined when the datagram was not answered
 */
export async function exchangeOrSilence(
  server: Endpoint,
  bytes: Buffer,
  good: Buffer,
): Promise<Buffer | undefined> {
  const reply = await firstUdpReply(server, [bytes, good], deadlineMs)
  if (reply === undefined) throw new Error('not even the good query was answered over UDP')
  return reply.readUInt16BE(0) === good.readUInt16BE(0) ? undefined : reply
}

/** True when `bytes` stay unanswered and `good`, sent after them, is answered. */
export async function isDroppedUdp(
  server: Endpoint,
  bytes: Buffer,
  good: Buffer,
): Promise<boolean> {
  return (await exchangeOrSilence(server, bytes, good)) === undefined
}

async function firstUdpReply(
  { host, port }: Endpoint,
  datagrams: readonly Buffer[],
  timeoutMs: number,
): Promise<Buffer | undefined> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  try {
    socket.connect(port, host)
    await once(socket, 'connect')
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(timeoutMs) })
    for (const datagram of datagrams) socket.send(datagram)
    const [reply] = (await answered) as [Buffer]
    return reply
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return undefined
    throw error
  } finally {
    socket.close()
  }
}

export interface AskParts extends QueryParts {
  readonly tcp?: boolean
}

/** Asks `www.example.org. A` and decodes the reply strictly. */
export async function ask(
  server: Endpoint,
  question: string,
  parts: AskParts = {},
): Promise<Message> {
  const bytes = query(question, parts)
  return parts.tcp === true
    ? askTcp(server, bytes)
    : decodeMessage(await exchangeUdp(server, bytes))
}

async function askTcp(server: Endpoint, bytes: Buffer): Promise<Message> {
  const client = await TcpClient.connect(server)
  try {
    client.send(bytes)
    return decodeMessage(await client.receive())
  } finally {
    client.destroy()
  }
}

/** Length prefix and message. RFC 1035 section 4.2.2. */
export function framed(...messages: readonly Buffer[]): Buffer {
  return Buffer.concat(messages.flatMap((message) => [uint16(message.length), message]))
}

export class TcpClient {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #isOver = false
  #wake = (): void => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    const end = (): void => {
      this.#isOver = true
      this.#wake()
    }
    socket.on('end', end).on('close', end)
    socket.on('error', () => undefined)
  }

  static async connect({ host, port }: Endpoint): Promise<TcpClient> {
    const socket = createConnection({ host, port, allowHalfOpen: true })
    await once(socket, 'connect', { signal: AbortSignal.timeout(deadlineMs) })
    return new TcpClient(socket)
  }

  /** Sends messages in one write, each behind its length. */
  send(...messages: readonly Buffer[]): void {
    this.socket.write(framed(...messages))
  }

  /** Sends octets as they are. */
  sendRaw(bytes: Buffer): void {
    this.socket.write(bytes)
  }

  /** The next message. @throws when the server closes first, or after the deadline */
  async receive(): Promise<Buffer> {
    const isWhole = (): boolean =>
      this.#received.length >= 2 && this.#received.length >= 2 + this.#received.readUInt16BE(0)
    await this.#until(() => isWhole() || this.#isOver, 'no answer over TCP')
    if (!isWhole()) throw new Error('the server closed the connection before it answered')
    const end = 2 + this.#received.readUInt16BE(0)
    const message = this.#received.subarray(2, end)
    this.#received = this.#received.subarray(end)
    return message
  }

  /** Waits until the server has closed its half. @throws when it has not by the deadline */
  async closed(timeoutMs = deadlineMs): Promise<void> {
    await this.#until(() => this.#isOver, 'the server kept the connection open', timeoutMs)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  destroy(): void {
    this.socket.destroy()
  }

  async #until(isDone: () => boolean, complaint: string, timeoutMs = deadlineMs): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs)
    while (!isDone()) {
      if (deadline.aborted) throw new Error(`${complaint} within ${timeoutMs} ms`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }
}
