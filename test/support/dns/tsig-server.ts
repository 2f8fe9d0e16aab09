// A small DNS server that signs its answers with TSIG, for programs that sign their queries.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { checkTsig } from '#dns/tsig/check-tsig.ts'
import type { FindKey, TsigCheck } from '#dns/tsig/check-tsig.ts'
import {
  MessageSigner,
  appendUnproven,
  tsigBytesMax,
  unprovenBytes,
} from '#dns/tsig/sign-message.ts'
import type { TsigError, TsigKey } from '#dns/tsig/tsig-key.ts'
import { decodeMessage, encodeMessage } from './message.ts'
import { a } from './record.ts'
import type { ResourceRecord } from './record.ts'

export interface TsigServer {
  readonly port: number
  /** Results of checking the requests, oldest first. */
  readonly checks: readonly TsigCheck<TsigKey>['is'][]
  readonly close: () => void
}

export interface TsigServerParts {
  readonly find: FindKey<TsigKey>
  /** In whole seconds. */
  readonly now: () => number
  /** Every n-th message of a transfer is signed, besides the first and the last. */
  readonly signEvery: number
}

const zone = 'example.com.'
const transferMessages = 250

export async function startTsigServer(parts: TsigServerParts): Promise<TsigServer> {
  const checks: TsigCheck<TsigKey>['is'][] = []
  const replies = (query: Buffer): Buffer[] => {
    const check = checkTsig(query, parts.find, parts.now())
    checks.push(check.is)
    return repliesTo(query, check, parts)
  }
  const tcp = createServer((socket) => serve(socket, replies)).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4').bind(port, '127.0.0.1')
  await once(udp, 'listening')
  udp.on('message', (query, from) => {
    for (const reply of replies(query)) udp.send(reply, from.port, from.address)
  })
  return { port, checks, close: () => void (udp.close(), tcp.close()) }
}

function serve(socket: Socket, replies: (query: Buffer) => Buffer[]): void {
  let waiting = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('data', (octets: Buffer) => {
    waiting = Buffer.concat([waiting, octets])
    while (waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE()) {
      const end = 2 + waiting.readUInt16BE()
      for (const reply of replies(waiting.subarray(2, end))) {
        const length = Buffer.alloc(2)
        length.writeUInt16BE(reply.length)
        socket.write(Buffer.concat([length, reply]))
      }
      waiting = waiting.subarray(end)
    }
  })
}

function repliesTo(query: Buffer, check: TsigCheck<TsigKey>, parts: TsigServerParts): Buffer[] {
  const asked = decodeMessage(query)
  const reply = (rcode: number, answer: readonly ResourceRecord[] = []): Buffer => {
    const { id, opcode, rd, questions } = asked
    return encodeMessage({ id, qr: true, opcode, aa: true, rd, rcode, questions, answer })
  }
  const { now, signEvery } = parts
  switch (check.is) {
    case 'unsigned':
      return [reply(5)]
    case 'malformed':
      return [reply(1)]
    case 'unproven': {
      const unsigned = reply(9)
      const message = Buffer.concat([unsigned, Buffer.alloc(unprovenBytes(check.record))])
      appendUnproven(message, unsigned.length, check.record, check.error)
      return [message]
    }
    case 'refused': {
      const signer = new MessageSigner(check.key, check.record.mac)
      const error = check.error as typeof TsigError.BadTime
      return [
        withRoom(reply(9), check.key, (message, length) =>
          signer.signRefusal(message, length, check.record, error, now()),
        ),
      ]
    }
    case 'signed': {
      const signer = new MessageSigner(check.key, check.record.mac)
      const isTransfer = asked.questions[0]?.type === 252
      const messages = isTransfer
        ? transfer().map((record) => reply(0, [record]))
        : [reply(0, [soaRecord])]
      return messages.map((message, i) => {
        if (i % signEvery !== 0 && i !== messages.length - 1) {
          signer.skip(message, message.length)
          return message
        }
        const sign = (to: Buffer, length: number) => signer.sign(to, length, now())
        return withRoom(message, check.key, sign)
      })
    }
  }
}

function withRoom(
  message: Buffer,
  key: TsigKey,
  sign: (message: Buffer, length: number) => number,
): Buffer {
  const room = Buffer.concat([message, Buffer.alloc(tsigBytesMax(key))])
  return room.subarray(0, sign(room, message.length))
}

const soaRecord = a(`${zone} 60 IN SOA ns.${zone} admin.${zone} 7 3600 600 86400 60`)

function transfer(): ResourceRecord[] {
  const texts = Array.from({ length: transferMessages }, (_, i) => a(`t${i}.${zone} 60 IN TXT "x"`))
  return [soaRecord, ...texts, soaRecord]
}
