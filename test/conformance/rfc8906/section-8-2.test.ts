// RFC 8906 section 8.2: the tests with EDNS that every server should answer, none with silence.
import { expect, test } from 'vitest'
import { OptionCode } from '#test/support/dns/codes.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const unknown = { code: 100, data: Buffer.alloc(0) }

test('8.2.1: minimal EDNS is NOERROR with OPT version 0', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { udpSize: 4_096 } })
  expect(reply).toMatchObject({ rcode: 0, aa: true, opt: { version: 0 } })
  expect(reply.answer.length).toBe(1)
})

test('8.2.2: an unknown version is BADVERS with OPT version 0 and no answer', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { version: 1 } })
  expect(reply).toMatchObject({ rcode: 16, answer: [], opt: { version: 0 } })
})

test('8.2.3: an unknown option is ignored', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { options: [unknown] } })
  expect(reply).toMatchObject({ rcode: 0, aa: true, opt: { version: 0, options: [] } })
  expect(reply.answer.length).toBe(1)
})

test('8.2.4: unknown flags are ignored and cleared', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { flags: 0x40 } })
  expect(reply).toMatchObject({ rcode: 0, aa: true, opt: { version: 0, flags: 0 } })
})

test('8.2.5: an unknown version with unknown flags is BADVERS, flags cleared', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { version: 1, flags: 0x40 } })
  expect(reply).toMatchObject({ rcode: 16, answer: [], opt: { version: 0, flags: 0 } })
})

test('8.2.6: an unknown version with an unknown option is BADVERS, no option echoed', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { version: 1, options: [unknown] } })
  expect(reply).toMatchObject({ rcode: 16, answer: [], opt: { version: 0, options: [] } })
})

test('8.2.7: a reply that does not fit 512 octets is truncated and keeps OPT', async () => {
  const reply = await subject.ask('big.example. NS', { opt: { udpSize: 512 } })
  expect(reply).toMatchObject({ rcode: 0, tc: true, opt: { version: 0 } })
})

test('8.2.8: DO comes back, on an unsigned zone too', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { dnssecOk: true } })
  expect(reply).toMatchObject({ rcode: 0, opt: { version: 0, dnssecOk: true } })
})

test('8.2.9: DO with an unknown version is BADVERS', async () => {
  const reply = await subject.ask('example.org. SOA', { opt: { version: 1, dnssecOk: true } })
  expect(reply).toMatchObject({ rcode: 16, opt: { version: 0 } })
})

test('8.2.10: several defined options at once are not an error', async () => {
  const options = [
    { code: OptionCode.NSID, data: Buffer.alloc(0) },
    { code: OptionCode.COOKIE, data: Buffer.from('0102030405060708', 'hex') },
    { code: OptionCode.ECS, data: Buffer.from('00010000', 'hex') },
    { code: 9, data: Buffer.alloc(0) },
  ]
  const reply = await subject.ask('example.org. SOA', { opt: { options } })
  expect(reply).toMatchObject({ rcode: 0, aa: true, opt: { version: 0 } })
  expect(reply.answer.length).toBe(1)
})
