// RFC 1035 sections 4.1.2 and 7.3: messages that are no queries, and what comes of them.
import { describe, expect, test } from 'vitest'
import { exchangeUdp, isDroppedUdp } from '#test/support/dns/client.ts'
import { decodeMessage, encodeOpt, query } from '#test/support/dns/message.ts'
import { a } from '#test/support/dns/record.ts'
import { answered, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const whole = (): Buffer => query('www.example.org. A', { id: 0x4242 })

/** A query whose counts are replaced: question, answer, authority, additional. */
function counted(bytes: Buffer, ...counts: readonly number[]): Buffer {
  const copy = Buffer.from(bytes)
  for (const [i, count] of counts.entries()) copy.writeUInt16BE(count, 4 + i * 2)
  return copy
}

function withQuestion(hex: string): Buffer {
  return Buffer.from(`424200000001000000000000${hex}`, 'hex')
}

describe('fewer than twelve octets', () => {
  for (const length of [0, 1, 2, 11]) {
    test(`${length} of them are not answered`, async () => {
      const bytes = whole().subarray(0, length)
      expect(await isDroppedUdp(subject.endpoint(), bytes, query('www.example.org. A'))).toBe(true)
    })
  }
})

describe('a malformed message is FORMERR with the query’s ID', () => {
  const opt = encodeOpt({})
  const malformed: readonly [title: string, bytes: Buffer][] = [
    ['a header that counts a question and ends', counted(whole().subarray(0, 12), 1)],
    ['a name cut inside a label', whole().subarray(0, 15)],
    ['a name without its end', whole().subarray(0, 28)],
    ['a question without its class', whole().subarray(0, -2)],
    ['a label of 64 octets', withQuestion(`40${'61'.repeat(64)}0000010001`)],
    ['a label of the reserved type 10', withQuestion('80000000010001')],
    ['a name of 256 octets', withQuestion(`${`3f${'61'.repeat(63)}`.repeat(4)}0000010001`)],
    ['a name that points to itself', withQuestion('c00c00010001')],
    ['a name that points forward', withQuestion('c00e000361626300000010001')],
    ['a name that points into the header', withQuestion('c00000010001')],
    ['a record counted and absent', counted(whole(), 1, 0, 0, 1)],
    [
      'a record cut inside its fixed part',
      counted(Buffer.concat([whole(), opt.subarray(0, 8)]), 1, 0, 0, 1),
    ],
    [
      'an OPT record whose options leave it',
      counted(Buffer.concat([whole(), badOption()]), 1, 0, 0, 1),
    ],
    [
      'RDATA beyond the end',
      counted(Buffer.concat([whole(), opt.subarray(0, 9), Buffer.from([0, 9])]), 1, 0, 0, 1),
    ],
    ['octets after the last record', Buffer.concat([whole(), Buffer.from([0])])],
  ]
  for (const [title, bytes] of malformed) {
    test(title, async () => {
      const reply = decodeMessage(await exchangeUdp(subject.endpoint(), bytes))
      expect(reply).toMatchObject({ id: 0x4242, rcode: 1, qr: true, aa: false })
      expect([reply.answer, reply.authority, reply.additional]).toEqual([[], [], []])
    })
  }
})

function badOption(): Buffer {
  // One option that announces 100 octets in RDATA of 4.
  return Buffer.concat([encodeOpt({}).subarray(0, 9), Buffer.from([0, 4, 0, 3, 0, 100])])
}

test('records in the answer and authority sections of a query are stepped over', async () => {
  const extra = [a('www.example.org. 5 IN A 198.51.100.1')]
  const reply = await subject.ask('www.example.org. A', { answer: extra, authority: extra })
  expect(said(reply)).toEqual(answered('www.example.org. 60 IN A 192.0.2.1'))
})

test('an unknown record beside OPT in the additional section is stepped over', async () => {
  const additional = [a('x.example.org. 5 IN TYPE65281 \\# 2 abcd')]
  const reply = await subject.ask('www.example.org. A', { additional, opt: {} })
  expect(said(reply)).toEqual(answered('www.example.org. 60 IN A 192.0.2.1'))
  expect(reply.opt).toBeDefined()
})
