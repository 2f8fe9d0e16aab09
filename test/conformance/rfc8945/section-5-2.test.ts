// RFC 8945 sections 5.2 and 5.3: signed messages, and what their answers are signed with.
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTsig } from '#dns/tsig/tsig-record.ts'
import type { TsigRecord } from '#dns/tsig/tsig-record.ts'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { signedWith, testKey } from '#test/support/dns/signed.ts'

const key = testKey('key.example.')
const names = Array.from({ length: 400 }, (_, i) => `n${i} 60 TXT ${'x'.repeat(100)}\n`).join('')
const text = `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${names}`

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: true, allow: [] }
  node = await startNode({ name: 'example.com.', text }, { transfers })
  node.node.setKeys([{ ...key, id: 'k', scope: null, mayTransfer: true }])
})
afterAll(() => node.stop())

const nowSeconds = (): number => Math.floor(Date.now() / 1_000)
const plain = (): Buffer => query('n1.example.com. TXT')
function tsigOf(message: Buffer): TsigRecord {
  const record = readTsig(message)
  return record === null || record === 'malformed' ? expect.unreachable() : record
}

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 255)

/** Written apart from the server's, after sections 4.3 and 5.3.1. */
function macOf(reply: Buffer, before: Uint8Array, isFirst: boolean): Buffer {
  const record = tsigOf(reply)
  const message = Buffer.from(reply.subarray(0, record.at))
  message.writeUInt16BE(message.readUInt16BE(10) - 1, 10)
  const times = Buffer.alloc(8)
  times.writeUIntBE(record.timeSeconds, 0, 6)
  times.writeUInt16BE(record.fudgeSeconds, 6)
  const variables = [
    ...[key.name, Buffer.from('00ff00000000', 'hex'), key.algorithm.wire, times],
    ...[u16(record.error), u16(record.other.length), record.other],
  ]
  const parts = [u16(before.length), before, message, ...(isFirst ? variables : [times])]
  return createHmac('sha256', key.secret).update(Buffer.concat(parts)).digest()
}

test('5.3: a signed question has a signed answer, over the MAC of the question', async () => {
  const asked = signedWith(key, plain())
  const reply = await exchangeUdp(node, asked)
  expect(decodeMessage(reply)).toMatchObject({ rcode: 0, aa: true })
  const record = tsigOf(reply)
  expect(record).toMatchObject({ error: 0, fudgeSeconds: 300, originalId: asked.readUInt16BE(0) })
  expect(Buffer.from(record.mac)).toEqual(macOf(reply, tsigOf(asked).mac, true))
})

test('5.3.1: each message of a transfer is signed, over the MAC of the one before', async () => {
  const asked = signedWith(key, query('example.com. AXFR'))
  const client = await TcpClient.connect(node)
  client.send(asked)
  let before = tsigOf(asked).mac
  let messages = 0
  for (let soas = 0; soas < 2; messages++) {
    const reply = await client.receive()
    const { mac } = tsigOf(reply)
    expect(Buffer.from(mac)).toEqual(macOf(reply, before, messages === 0))
    before = mac
    soas += decodeMessage(reply).answer.filter(({ type }) => type === 6).length
  }
  client.destroy()
  expect(messages).toBeGreaterThan(2)
})

test('5.2.1: a key that nobody knows is NOTAUTH with BADKEY, not signed', async () => {
  const reply = await exchangeUdp(node, signedWith(testKey('nobody.example.'), plain()))
  expect(decodeMessage(reply)).toMatchObject({ rcode: 9, answer: [] })
  expect(tsigOf(reply)).toMatchObject({ error: 17, mac: { length: 0 } })
})

test('5.2.2: a wrong MAC is NOTAUTH with BADSIG, not signed', async () => {
  const reply = await exchangeUdp(node, signedWith({ ...key, secret: Buffer.alloc(32) }, plain()))
  expect(decodeMessage(reply)).toMatchObject({ rcode: 9, answer: [] })
  expect(tsigOf(reply)).toMatchObject({ error: 16, mac: { length: 0 } })
})

test('5.2.3: a time beyond the fudge is NOTAUTH with BADTIME, signed, with our time', async () => {
  const seconds = nowSeconds() - 1_000
  const asked = signedWith(key, plain(), seconds)
  const reply = await exchangeUdp(node, asked)
  expect(decodeMessage(reply)).toMatchObject({ rcode: 9, answer: [] })
  const record = tsigOf(reply)
  expect(record).toMatchObject({ error: 18, timeSeconds: seconds })
  const ours = Buffer.from(record.other).readUIntBE(0, 6)
  expect(Math.abs(ours - nowSeconds())).toBeLessThan(60)
  expect(Buffer.from(record.mac)).toEqual(macOf(reply, tsigOf(asked).mac, true))
})

test('5.2: a record that is not the last one is FORMERR', async () => {
  const message = Buffer.concat([signedWith(key, plain()), Buffer.alloc(11)])
  message.writeUInt16BE(2, 10)
  expect(decodeMessage(await exchangeUdp(node, message))).toMatchObject({ rcode: 1, answer: [] })
})
