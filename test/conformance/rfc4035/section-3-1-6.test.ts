// RFC 4035 section 3.1.6: AD and CD mean nothing to an authoritative server.
import { expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const questions = ['www.example.org. A', 'no.example.org. A', 'www.elsewhere.test. A']

for (const question of questions) {
  test(`AD and CD of the query are cleared: ${question}`, async () => {
    for (const tcp of [false, true]) {
      const reply = await subject.ask(question, { ad: true, cd: true, z: true, tcp })
      expect(reply).toMatchObject({ ad: false, cd: false, z: false })
    }
  })
}

test('AD stays clear when the client asks for DNSSEC', async () => {
  const reply = await subject.ask('www.example.org. A', { ad: true, opt: { dnssecOk: true } })
  expect(reply.ad).toBe(false)
})
