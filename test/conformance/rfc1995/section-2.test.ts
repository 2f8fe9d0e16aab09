// RFC 1995 section 2: a client that has its version from elsewhere gets the whole zone, or learns
// that it has the current one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { a } from '#test/support/dns/record.ts'

const text = '@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\nwww 60 A 192.0.2.1\n'
/** That of the node's first bundle. */
const serial = 1

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [] }
  node = await startNode({ name: 'example.com.', text }, { transfers })
})
afterAll(() => node.stop())

const ixfr = (have: number, parts = {}): Buffer => {
  const authority = [a(`example.com. 0 IN SOA . . ${have} 0 0 0 0`)]
  return query('example.com. IXFR', { authority, ...parts })
}

async function overTcp(message: Buffer): Promise<Message> {
  const client = await TcpClient.connect(node)
  client.send(message)
  const reply = decodeMessage(await client.receive())
  client.destroy()
  return reply
}
const overUdp = async (message: Buffer): Promise<Message> =>
  decodeMessage(await exchangeUdp(node, message))

describe('over TCP', () => {
  test.each([
    ['an older serial', 0, 4],
    ['the one before, over the turn of RFC 1982', 2 ** 32 - 1, 4],
    ['the current serial', serial, 1],
    ['a later serial', serial + 1, 1],
  ])('%s', async (_what, have, records) => {
    const { rcode, aa, answer, questions } = await overTcp(ixfr(have))
    expect([rcode, aa, answer.length]).toEqual([0, true, records])
    expect(questions).toEqual([{ name: 'example.com.', type: 251, class: 1 }])
    // One record says that nothing changed; else it is a whole zone, SOA first and last.
    expect([answer[0]?.type, answer.at(-1)]).toEqual([6, answer[0]])
  })
})

describe('over UDP', () => {
  test.each([0, serial, serial + 1])('serial %i gets the current SOA alone', async (have) => {
    for (const opt of [undefined, { udpSize: 1_232 }]) {
      const reply = await overUdp(ixfr(have, opt === undefined ? {} : { opt }))
      expect(reply).toMatchObject({ rcode: 0, aa: true, tc: false })
      expect(reply.answer.map(({ type }) => type)).toEqual([6])
      expect(reply.opt === undefined).toBe(opt === undefined)
    }
  })
})

const soaOf = (owner: string): string => `${owner} 0 IN SOA . . 0 0 0 0 0`

test.each([
  ['without the SOA that the client has', {}],
  ['with two', { authority: [a(soaOf('example.com.')), a(soaOf('example.com.'))] }],
  ['with one of another zone', { authority: [a(soaOf('example.net.'))] }],
  ['with a record of another type', { authority: [a('example.com. 0 IN NS .')] }],
  ['with one of another class', { authority: [{ ...a(soaOf('example.com.')), class: 3 }] }],
  ['with one in the answer section', { answer: [a(soaOf('example.com.'))] }],
])('%s it is FORMERR', async (_what, parts) => {
  for (const send of [overTcp, overUdp]) {
    expect(await send(query('example.com. IXFR', parts))).toMatchObject({ rcode: 1, answer: [] })
  }
})

test('the owner of that SOA may be in other letters', async () => {
  const reply = await overTcp(query('example.com. IXFR', { authority: [a(soaOf('EXAMPLE.com.'))] }))
  expect([reply.rcode, reply.answer.length]).toEqual([0, 4])
})
