// Signed updates through the sockets of a node: one that comes twice (RFC 8945 section 5.2.3), and
// the reason for a refusal (RFC 8914).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MessageSigner } from '#dns/tsig/sign-message.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { OptionCode } from '#test/support/dns/codes.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { decodeMessage, encodeMessage } from '#test/support/dns/message.ts'
import type { Opt } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { a } from '#test/support/dns/record.ts'
import { Rcode } from '#dns/rcode.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const key = {
  ...{ id: 'k', name: wireName('key.example.'), scope: null },
  ...{ algorithm: tsigAlgorithm('hmac-sha256.')!, secret: Buffer.alloc(32, 7), mayTransfer: true },
}

let id = 0
function signedUpdate(secondsAgo = 0, opt?: Partial<Opt>): Buffer {
  const message = encodeMessage({
    ...(opt === undefined ? {} : { opt }),
    ...{ id: ++id, opcode: 5, questions: [{ name: 'example.org.', type: 6, class: 1 }] },
    authority: [a(`n${id}.example.org. 60 IN TXT "x"`)],
  })
  const octets = Buffer.concat([message, Buffer.alloc(300)])
  const seconds = Math.floor(Date.now() / 1_000) - secondsAgo
  return octets.subarray(0, new MessageSigner(key).sign(octets, message.length, seconds))
}

let node: RunningNode
let carriedOut = 0
let answerWith: Rcode = Rcode.NoError
let why = ''
beforeAll(async () => {
  node = await startNode(conformanceConfig, {
    onUpdate: async () => {
      carriedOut++
      return { rcode: answerWith, why }
    },
  })
  node.node.setKeys([key])
})
afterAll(() => node.stop())

const overUdp = async (message: Buffer) => decodeMessage(await exchangeUdp(node, message))
async function overTcp(message: Buffer) {
  const client = await TcpClient.connect(node)
  client.send(message)
  const reply = decodeMessage(await client.receive())
  client.destroy()
  return reply
}

describe.each([
  ['UDP', overUdp],
  ['TCP', overTcp],
])('over %s', (_transport, send) => {
  test.each([Rcode.NoError, Rcode.Refused])(
    'with rcode %i is answered again, and carried out once',
    async (rcode) => {
      answerWith = rcode
      const before = carriedOut
      const message = signedUpdate()
      const replies = [await send(message), await send(message), await overTcp(message)]
      expect(replies.map((reply) => reply.rcode)).toEqual([rcode, rcode, rcode])
      expect(replies.every(({ additional }) => additional.at(-1)?.type === 250)).toBe(true)
      expect(carriedOut - before).toBe(1)
    },
  )

  test('another one, signed in an earlier second, is carried out', async () => {
    answerWith = 0
    const before = carriedOut
    expect((await send(signedUpdate())).rcode).toBe(0)
    expect((await send(signedUpdate(10))).rcode).toBe(0)
    expect(carriedOut - before).toBe(2)
  })
})

test('a repetition during the first run waits for it', async () => {
  answerWith = 0
  const before = carriedOut
  const message = signedUpdate()
  const replies = await Promise.all([1, 2, 3].map(() => overTcp(message)))
  expect(replies.map(({ rcode }) => rcode)).toEqual([0, 0, 0])
  expect(carriedOut - before).toBe(1)
})

const short = 'h.example. is not below x.example.'
test.each([
  ['with EDNS gets the reason', {}, short, short],
  ['for a long reason gets the first 200 octets of it', {}, 'x'.repeat(999), 'x'.repeat(200)],
  ['without EDNS gets the rcode alone', undefined, short, undefined],
])('a refused update %s', async (_what, opt, reason, shown) => {
  answerWith = Rcode.Refused
  why = reason
  const reply = await overUdp(signedUpdate(0, opt))
  why = ''
  expect(reply.rcode).toBe(Rcode.Refused)
  const found = reply.opt?.options.find(({ code }) => code === OptionCode.EDE)
  expect(found?.data.toString('latin1')).toBe(shown && `\0\x12${shown}`)
})

test('an update of another version of EDNS is BADVERS, and not carried out', async () => {
  const before = carriedOut
  const reply = await overUdp(signedUpdate(0, { version: 1 }))
  expect([reply.rcode, reply.opt?.extendedRcode, carriedOut - before]).toEqual([16, 1, 0])
})
