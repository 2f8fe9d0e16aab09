// RFC 1035 section 4.1.1: the header of a reply.
import { describe, expect, test } from 'vitest'
import { exchangeUdp, isDroppedUdp } from '#test/support/dns/client.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { QueryParts } from '#test/support/dns/message.ts'
import { bare, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

describe('flags of a reply', () => {
  const questions: readonly [title: string, question: string, aa: boolean][] = [
    ['an answer', 'www.example.org. A', true],
    ['a NODATA reply', 'www.example.org. AAAA', true],
    ['an NXDOMAIN reply', 'nothere.example.org. A', true],
    ['a REFUSED reply', 'www.elsewhere.test. A', false],
  ]
  for (const [title, question, aa] of questions) {
    test(`${title} has QR set, AA ${aa ? 'set' : 'clear'}, all other flags clear`, async () => {
      const reply = await subject.ask(question)
      expect(reply).toMatchObject({ qr: true, aa, ra: false, z: false, ad: false })
      expect(reply).toMatchObject({ cd: false, tc: false, opcode: 0, opt: undefined })
    })
  }

  test('ID and RD are the query’s own', async () => {
    for (const [id, rd] of [
      [0, false],
      [0xffff, true],
      [0x1234, true],
    ] as const) {
      expect(await subject.ask('www.example.org. A', { id, rd })).toMatchObject({ id, rd })
    }
  })

  test('AA, TC, RA and Z in a query change nothing', async () => {
    const odd: QueryParts = { aa: true, tc: true, ra: true, z: true, rcode: 3 }
    const reply = await subject.ask('www.example.org. A', odd)
    expect(reply).toMatchObject({ rcode: 0, tc: false, ra: false, z: false })
    expect(reply.answer.length).toBe(1)
  })

  test('the question comes back as it was asked', async () => {
    const reply = await subject.ask('www.example.org. A')
    expect(reply.questions).toEqual([{ name: 'www.example.org.', type: 1, class: 1 }])
  })
})

describe('a message with QR set', () => {
  const replies: readonly [title: string, parts: QueryParts][] = [
    ['a reply to a query', {}],
    ['a reply to a NOTIFY', { opcode: 4 }],
    ['a reply with an unknown opcode', { opcode: 14 }],
    ['a reply with no question', { questions: [] }],
  ]
  for (const [title, parts] of replies) {
    test(`${title} is never answered`, async () => {
      const bytes = query('www.example.org. A', { ...parts, qr: true })
      expect(await isDroppedUdp(subject.endpoint(), bytes, query('www.example.org. A'))).toBe(true)
    })
  }
})

describe('opcodes', () => {
  const opcodes: readonly [title: string, opcode: number][] = [
    ['IQUERY', 1],
    ['STATUS', 2],
    ['an unassigned opcode', 3],
    ['DSO', 6],
    ['the last opcode', 15],
  ]
  for (const [title, opcode] of opcodes) {
    test(`${title} is NOTIMP, with a question or without`, async () => {
      expect(said(await subject.ask('www.example.org. A', { opcode }))).toEqual(bare('NOTIMP'))
      const headerOnly = await subject.ask('. A', { opcode, questions: [] })
      expect(said(headerOnly)).toEqual(bare('NOTIMP'))
      expect(headerOnly.opcode).toBe(opcode)
    })
  }

  test('a header alone with a strange opcode is read as such, not as a broken query', async () => {
    const header = Buffer.from('abcd58000000000000000000', 'hex')
    const reply = decodeMessage(await exchangeUdp(subject.endpoint(), header))
    expect(reply).toMatchObject({ id: 0xabcd, opcode: 11, rcode: 4 })
  })
})
