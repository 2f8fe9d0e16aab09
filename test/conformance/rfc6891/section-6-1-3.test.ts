// RFC 6891 section 6.1.3: versions of EDNS that we do not speak.
import { expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

for (const version of [1, 2, 100, 255]) {
  test(`version ${version} is BADVERS with our version, 0, and no data`, async () => {
    for (const question of ['www.example.org. A', 'example.org. SOA', 'no.example.org. A']) {
      const reply = await subject.ask(question, { opt: { version, dnssecOk: true } })
      expect(reply).toMatchObject({
        rcode: 16,
        aa: false,
        answer: [],
        authority: [],
        additional: [],
      })
      expect(reply.opt).toMatchObject({ version: 0, extendedRcode: 1, dnssecOk: true, flags: 0 })
      expect(reply.questions.length).toBe(1)
    }
  })
}

test('the options of a version that we do not speak are not looked at', async () => {
  const options = [{ code: 8, data: Buffer.from('00') }]
  const reply = await subject.ask('www.example.org. A', { opt: { version: 1, options } })
  expect(reply.rcode).toBe(16)
  expect(reply.opt?.options).toEqual([])
})

test('unknown flags with an unknown version are BADVERS too', async () => {
  const reply = await subject.ask('www.example.org. A', { opt: { version: 1, flags: 0x40 } })
  expect(reply.rcode).toBe(16)
  expect(reply.opt?.flags).toBe(0)
})
