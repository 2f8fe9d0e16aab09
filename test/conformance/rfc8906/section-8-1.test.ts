// RFC 8906 section 8.1: the basic tests that every server should answer, none with silence.
import { expect, test } from 'vitest'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('8.1.1: SOA of the zone is NOERROR with AA and the SOA', async () => {
  const reply = await subject.ask('example.org. SOA')
  expect(reply).toMatchObject({
    rcode: 0,
    aa: true,
    rd: false,
    ra: false,
    ad: false,
    opt: undefined,
  })
  expect(reply.answer.map(({ type }) => type)).toEqual([6])
})

test('8.1.2: an unknown type is NOERROR, AA, without an answer', async () => {
  const reply = await subject.ask('example.org. TYPE1000')
  expect(reply).toMatchObject({ rcode: 0, aa: true, answer: [], ra: false, opt: undefined })
})

test('8.1.3.1: CD in the query is not an error', async () => {
  const reply = await subject.ask('example.org. SOA', { cd: true })
  expect(reply).toMatchObject({ rcode: 0, aa: true, ad: false, opt: undefined })
  expect(reply.answer.length).toBe(1)
})

test('8.1.3.2: AD in the query is not an error', async () => {
  const reply = await subject.ask('example.org. SOA', { ad: true })
  expect(reply).toMatchObject({ rcode: 0, aa: true, ad: false, opt: undefined })
})

test('8.1.3.3: the reserved bit of the header is cleared', async () => {
  const reply = await subject.ask('example.org. SOA', { z: true })
  expect(reply).toMatchObject({ rcode: 0, aa: true, z: false })
})

test('8.1.3.4: a query with RD is answered, RA stays clear', async () => {
  const reply = await subject.ask('example.org. SOA', { rd: true })
  expect(reply).toMatchObject({ rcode: 0, aa: true, rd: true, ra: false })
})

test('8.1.4: an unknown opcode is NOTIMP, not echoing its flags', async () => {
  const reply = await subject.ask('. A', {
    opcode: 15,
    questions: [],
    aa: true,
    tc: true,
    ra: true,
    z: true,
    ad: true,
    cd: true,
  })
  expect(reply).toMatchObject({ rcode: 4, opcode: 15, aa: false, tc: false, ra: false })
  expect(reply).toMatchObject({ z: false, ad: false, cd: false, opt: undefined })
})

test('8.1.5: SOA over TCP is answered', async () => {
  const reply = await subject.ask('example.org. SOA', { tcp: true })
  expect(reply).toMatchObject({ rcode: 0, aa: true })
  expect(reply.answer.map(({ type }) => type)).toEqual([6])
})
