// Makes messages signed with TSIG, and updates.
import { MessageSigner, tsigBytesMax } from '#dns/tsig/sign-message.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { encodeMessage } from './message.ts'
import { a } from './record.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

export const testSecret = Buffer.from('0123456789abcdefghijklmnopqrstuv')

export function testKey(name: string, secret: Uint8Array = testSecret): TsigKey {
  return { name: wireName(name), algorithm: tsigAlgorithm('hmac-sha256.')!, secret }
}

const nowSeconds = (): number => Math.floor(Date.now() / 1_000)

export function signedWith(key: TsigKey, message: Buffer, seconds = nowSeconds()): Buffer {
  const octets = Buffer.concat([message, Buffer.alloc(tsigBytesMax(key))])
  return octets.subarray(0, new MessageSigner(key).sign(octets, message.length, seconds))
}

let lastId = 0

export interface UpdateParts {
  readonly zone: string
  /** Lines as `n.example.com. 60 IN TXT "x"`; without data, `n.example.com. 0 ANY TXT`. */
  readonly updates?: readonly string[]
  readonly needs?: readonly string[]
}

export function updateMessage({ zone, updates = [], needs = [] }: UpdateParts): Buffer {
  lastId = (lastId + 1) & 0xffff
  const recordOf = (line: string) => a(line.split(' ').length === 4 ? `${line} \\# 0` : line)
  return encodeMessage({
    ...{ id: lastId, opcode: 5, questions: [{ name: zone, type: 6, class: 1 }] },
    answer: needs.map(recordOf),
    authority: updates.map(recordOf),
  })
}
