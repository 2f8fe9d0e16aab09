// RFC 3225 section 3: DNSSEC OK is copied, the other EDNS flags are zero.
import { expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

for (const question of ['www.example.org. A', 'no.example.org. A', 'www.elsewhere.test. A']) {
  test(`DO comes back as it was sent: ${question}`, async () => {
    for (const dnssecOk of [true, false]) {
      const reply = await subject.ask(question, { opt: { dnssecOk } })
      expect(reply.opt).toMatchObject({ dnssecOk, flags: 0 })
    }
  })
}

test('unknown EDNS flags are cleared', async () => {
  const reply = await subject.ask('www.example.org. A', { opt: { dnssecOk: true, flags: 0x7fff } })
  expect(reply.opt).toMatchObject({ dnssecOk: true, flags: 0 })
  expect(reply.answer.length).toBe(1)
})

test('DO at an unsigned zone adds no records', async () => {
  const reply = await subject.ask('no.example.org. A', { opt: { dnssecOk: true } })
  expect(reply.authority.length).toBe(1)
})
