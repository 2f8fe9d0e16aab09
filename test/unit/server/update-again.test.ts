// Signed updates through the sockets of a node: one that comes twice (RFC 8945 section 5.2.3), the
// reason for a refusal (RFC 8914), and padding over TLS (RFC 8467).
import { once } from 'node:events'
import { connect } from 'node:tls'
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
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { pairsIn } from '#server/tls/sources.ts'
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
let tlsPort = 0
const directory = makeTempDir('updates')
let carriedOut = 0
let answerWith: Rcode = Rcode.NoError
let why = ''
beforeAll(async () => {
  tlsPort = await freePort()
  const pairs = pairsIn('dns.tls', makeTlsFiles(directory, 'ns.example.org'))
  node = await startNode(conformanceConfig, {
    tls: { port: tlsPort, given: null, pairs },
    onUpdate: async () => {
      carriedOut++
      return { rcode: answerWith, why }
    },
  })
  node.node.setKeys([key])
})
afterAll(async () => {
  await node.stop()
  removeTempDir(directory)
})

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

/** @returns the octets of the reply */
async function overTls(message: Buffer): Promise<Buffer> {
  const socket = connect({ port: tlsPort, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 0xff]), message]))
  let got = Buffer.alloc(0)
  for await (const chunk of socket) {
    got = Buffer.concat([got, chunk as Buffer])
    if (got.length >= 2 && got.length >= 2 + got.readUInt16BE()) break
  }
  socket.destroy()
  return got.subarray(2)
}

const padding = { code: 12, data: Buffer.alloc(40) }
test.each([
  ['a reason, fills a block', [padding], 'h.example. is not yours', 468],
  ['no reason, fills a block', [padding], '', 468],
  ['no Padding option is as long as it is', [], '', undefined],
])('over TLS the reply to a padded update, with %s', async (_what, options, reason, bytes) => {
  answerWith = Rcode.Refused
  why = reason
  const octets = await overTls(signedUpdate(0, { options }))
  why = ''
  const reply = decodeMessage(octets)
  expect([reply.rcode, reply.additional.at(-1)?.type]).toEqual([Rcode.Refused, 250])
  const isPadded = reply.opt?.options.some(({ code }) => code === padding.code)
  expect([isPadded, isPadded ? octets.length : undefined]).toEqual([bytes !== undefined, bytes])
})
