// RFC 1035 section 4.2.1 and RFC 2181 section 9: 512 octets over UDP, and truncation.
import { describe, expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

describe('a reply that does not fit', () => {
  test('has TC, the question and no records when the client has no EDNS', async () => {
    const reply = await subject.ask('big.example. NS')
    expect(reply).toMatchObject({ tc: true, aa: true, rcode: 0, opt: undefined })
    expect([reply.answer, reply.authority, reply.additional]).toEqual([[], [], []])
    expect(reply.questions).toEqual([{ name: 'big.example.', type: 2, class: 1 }])
  })

  test('comes whole over TCP, without TC', async () => {
    const reply = await subject.ask('huge.example. NS', { tcp: true })
    expect(reply.tc).toBe(false)
    expect(reply.answer.length).toBe(24)
  })

  test('keeps its OPT record, and its question, when it is truncated', async () => {
    const reply = await subject.ask('huge.example. NS', { opt: { udpSize: 4096 } })
    expect(reply.tc).toBe(true)
    expect(reply.answer).toEqual([])
    expect(reply.opt).toMatchObject({ version: 0 })
    expect(reply.questions.length).toBe(1)
  })
})

test('no reply is longer than the client takes, and none has a part of an rrset', async () => {
  for (let udpSize = 512; udpSize <= 1_400; udpSize += 37) {
    const reply = await subject.ask('big.example. NS', { opt: { udpSize } })
    expect(reply.bytes.length).toBeLessThanOrEqual(Math.min(udpSize, 1_232))
    expect(reply.answer.length).toBe(reply.tc ? 0 : 12)
  }
})

test('glue is left out whole per name server rather than truncating the answer', async () => {
  const reply = await subject.ask('example.org. NS')
  expect(reply.tc).toBe(false)
  expect(reply.additional.length).toBe(2)
})
