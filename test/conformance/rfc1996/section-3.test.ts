// RFC 1996: NOTIFY to a server that is nobody's secondary.
import { expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('NOTIFY is answered NOTIMP, never with silence', async () => {
  const reply = await subject.ask('example.org. SOA', { opcode: 4, aa: true })
  expect(reply).toMatchObject({ rcode: 4, opcode: 4, qr: true, aa: false, answer: [] })
})
