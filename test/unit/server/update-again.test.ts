// A signed update that comes twice, through the sockets of a node. RFC 8945 section 5.2.3.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MessageSigner } from '#dns/tsig/sign-message.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { decodeMessage, encodeMessage } from '#test/support/dns/message.ts'
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
function signedUpdate(secondsAgo = 0): Buffer {
  const message = encodeMessage({
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
beforeAll(async () => {
  node = await startNode(conformanceConfig, {
    onUpdate: async () => {
      carriedOut++
      return answerWith
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
