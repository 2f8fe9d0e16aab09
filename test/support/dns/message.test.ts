// The tests' own codec agrees with an independent one and refuses what is malformed.
import dnsPacket from 'dns-packet'
import { expect, test } from 'vitest'
import { decodeMessage, encodeMessage, query } from './message.ts'
import { a, lineOf } from './record.ts'

const lines = [
  'www.example.org. 60 IN A 192.0.2.1',
  'www.example.org. 60 IN AAAA 2001:db8::1',
  'example.org. 3600 IN NS ns1.example.org.',
  'example.org. 3600 IN SOA ns1.example.org. hostmaster.example.org. 7 3600 600 86400 30',
  'example.org. 60 IN TXT "two" "strings"',
  'example.org. 60 IN MX 10 mail.example.org.',
  'www.example.org. 60 IN HINFO "RFC8482" ""',
  'www.example.org. 60 IN TYPE65280 \\# 3 0102ff',
]

test('records survive the wire as they were written', () => {
  const bytes = encodeMessage({ answer: lines.map(a) })
  expect(decodeMessage(bytes).answer.map(lineOf)).toEqual(lines)
})

test('dns-packet reads our messages as we meant them', () => {
  const bytes = encodeMessage({
    id: 77,
    rd: true,
    questions: [{ name: 'www.example.org.', type: 1, class: 1 }],
    answer: [a(lines[0]!)],
    opt: { udpSize: 1400, dnssecOk: true },
  })
  const packet = dnsPacket.decode(bytes)
  expect(packet.id).toBe(77)
  expect(packet.questions).toEqual([{ name: 'www.example.org', type: 'A', class: 'IN' }])
  expect(packet.answers).toMatchObject([{ name: 'www.example.org', ttl: 60, data: '192.0.2.1' }])
  expect(packet.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1400, flag_do: true }])
})

test('we read the compressed messages of dns-packet', () => {
  const name = 'a.example.org'
  const bytes = dnsPacket.encode({
    questions: [{ name, type: 'A' }],
    answers: [{ name, type: 'A', data: '192.0.2.9' }],
  })
  // Replaces the second owner by a pointer to the first.
  const owner = bytes.subarray(12, 27)
  const at = bytes.indexOf(owner, 31)
  const compressed = Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from([0xc0, 12]),
    bytes.subarray(at + owner.length),
  ])
  expect(decodeMessage(compressed).answer.map((record) => record.name)).toEqual(['a.example.org.'])
})

const malformed: readonly [title: string, bytes: Buffer][] = [
  ['a header cut short', Buffer.alloc(11)],
  ['octets behind the last record', Buffer.concat([query('a. A'), Buffer.from([0])])],
  ['a pointer to itself', Buffer.from('000000000001000000000000c00c00010001', 'hex')],
  ['a pointer forward', Buffer.from('000000000001000000000000c00e00010001', 'hex')],
  ['a question cut short', query('www.example.org. A').subarray(0, 25)],
  ['RDATA beyond the end', encodeMessage({ answer: [a(lines[0]!)] }).subarray(0, -1)],
]
for (const [title, bytes] of malformed) {
  test(`${title} is refused`, () => expect(() => decodeMessage(bytes)).toThrow())
}
