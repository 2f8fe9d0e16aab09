// RFC 5936 sections 2.2, 3 and 4: a whole zone over TCP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exchangeUdp, TcpClient } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message, QueryParts } from '#test/support/dns/message.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { lineOf } from '#test/support/dns/record.ts'

const names = Array.from({ length: 300 }, (_, i) => `n${i} 60 TXT ${'x'.repeat(100)}`)
const text = [
  '@ 60 IN SOA ns root 1 2 3 4 5',
  '@ 60 NS ns.example.net.',
  '*.wild 60 A 192.0.2.1',
  'cut 60 NS ns.cut',
  'ns.cut 60 A 192.0.2.2',
  'a.b.c 60 A 192.0.2.3',
  'Mixed 60 CNAME Other.Example.NET.',
  ...names,
  '',
].join('\n')

let node: RunningNode
beforeAll(async () => {
  const transfers = { enabled: true, requireTsig: false, allow: [] }
  node = await startNode({ name: 'example.com.', text }, { transfers })
})
afterAll(() => node.stop())

/** All messages of a transfer, up to the second SOA or an error. */
async function transfer(parts: QueryParts = {}, name = 'example.com.'): Promise<Message[]> {
  const client = await TcpClient.connect(node)
  try {
    client.send(query(`${name} AXFR`, parts))
    const messages: Message[] = []
    for (let soas = 0; soas < 2;) {
      const message = decodeMessage(await client.receive())
      messages.push(message)
      if (message.rcode !== 0) break
      soas += message.answer.filter(({ type }) => type === 6).length
    }
    return messages
  } finally {
    client.destroy()
  }
}

test('the header: the ID of the query, QR and AA, no RA, NOERROR; RD is copied', async () => {
  for (const rd of [true, false]) {
    for (const message of await transfer({ id: 4_711, rd })) {
      const header = { id: 4_711, qr: true, opcode: 0, aa: true, tc: false, rd, ra: false }
      expect(message).toMatchObject({ ...header, ad: false, cd: false, rcode: 0 })
      expect(message.authority).toEqual([])
    }
  }
})

test('several messages are sent, each with the question and many records', async () => {
  const messages = await transfer()
  expect(messages.length).toBeGreaterThan(1)
  for (const { questions, answer } of messages) {
    expect(questions).toEqual([{ name: 'example.com.', type: 252, class: 1 }])
    expect(answer.length).toBeGreaterThan(10)
  }
})

test('the SOA comes first and last, each other record once', async () => {
  const records = (await transfer()).flatMap(({ answer }) => answer)
  const lines = records.map(lineOf)
  expect(records[0]?.type).toBe(6)
  expect(lines.at(-1)).toBe(lines[0])
  const rest = lines.slice(1, -1)
  expect(new Set(rest).size).toBe(rest.length)
  expect(rest).toHaveLength(names.length + 6)
})

test('wildcards as they are, cuts with their glue, no empty names, the case of rdata', async () => {
  const lines = (await transfer()).flatMap(({ answer }) => answer).map(lineOf)
  for (const line of [
    '*.wild.example.com. 60 IN A 192.0.2.1',
    'cut.example.com. 60 IN NS ns.cut.example.com.',
    'ns.cut.example.com. 60 IN A 192.0.2.2',
  ]) {
    expect(lines).toContain(line)
  }
  expect(lines.some((line) => /^(?:b\.)?c\.example/.test(line))).toBe(false)
  expect(lines.find((line) => line.startsWith('mixed'))).toMatch(/CNAME Other\.Example\.NET\.$/)
})

test('OPT in each message where the query has it, and nowhere else', async () => {
  for (const { opt } of await transfer({ opt: {} })) expect(opt?.version).toBe(0)
  for (const { opt } of await transfer()) expect(opt).toBeUndefined()
})

test('the connection goes on after a transfer, and transfers may follow each other', async () => {
  const client = await TcpClient.connect(node)
  const octets = [query('example.com. AXFR', { id: 1 }), query('example.com. SOA', { id: 2 })]
  client.send(...octets, query('example.com. AXFR', { id: 3 }))
  const ids: number[] = []
  for (let soas = 0; soas < 5;) {
    const { id, answer } = decodeMessage(await client.receive())
    if (ids.at(-1) !== id) ids.push(id)
    soas += answer.filter(({ type }) => type === 6).length
  }
  client.destroy()
  expect(ids).toEqual([1, 2, 3])
})

test.each([
  ['a zone that is not ours', 'example.net.', {}, 9],
  ['a name within a zone', 'n1.example.com.', {}, 9],
  ['another class', 'example.com.', { class: 3 }, 5],
])('an error for %s, and no records', async (_what, name, parts, rcode) => {
  const [message] = await transfer(parts, name)
  expect(message).toMatchObject({ rcode, aa: false, answer: [], authority: [] })
})

test('over UDP it is REFUSED', async () => {
  const reply = decodeMessage(await exchangeUdp(node, query('example.com. AXFR')))
  expect(reply).toMatchObject({ rcode: 5, aa: false, tc: false, answer: [] })
})
