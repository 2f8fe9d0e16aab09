// RFC 2136 section 3.3: UPDATE by somebody who may not.
import { expect, test } from 'vitest'
import { a } from '#test/support/dns/record.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('an UPDATE without a signature is REFUSED and changes nothing', async () => {
  const authority = [a('new.example.org. 60 IN A 192.0.2.99')]
  const reply = await subject.ask('example.org. SOA', { opcode: 5, authority })
  expect(reply).toMatchObject({ rcode: 5, opcode: 5, qr: true, aa: false })
  expect((await subject.ask('new.example.org. A')).rcode).toBe(3)
})
