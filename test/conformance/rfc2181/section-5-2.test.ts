// RFC 2181 section 5.2: one TTL per rrset, and no record twice.
import { expect, test } from 'vitest'
import { linesOf } from '#test/support/dns/record.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('the records of an rrset have one TTL', async () => {
  for (const question of ['example.org. NS', 'big.example. NS']) {
    const { answer } = await subject.ask(question, { tcp: true })
    expect(new Set(answer.map(({ ttl }) => ttl))).toEqual(new Set([120]))
  }
})

test('no record comes twice in a message', async () => {
  for (const question of ['example.org. NS', 'huge.example. NS', 'dual.example.org. A']) {
    const { answer, authority, additional } = await subject.ask(question, { tcp: true })
    const lines = linesOf([...answer, ...authority, ...additional])
    expect(new Set(lines).size).toBe(lines.length)
  }
})
