// RFC 4343: ASCII letters match in either case, and come back in the case that was asked.
import { expect, test } from 'vitest'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import { exchangeUdp } from '#test/support/dns/client.ts'
import { bare, negativeSoa, nxdomain, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('a name matches whatever its case, and the question keeps it (0x20)', async () => {
  for (const name of ['WWW.EXAMPLE.ORG.', 'wWw.eXaMpLe.oRg.', 'www.example.ORG.']) {
    const reply = await subject.ask(`${name} A`)
    expect(reply.questions[0]?.name).toBe(name)
    expect(reply.answer.map((record) => record.name)).toEqual([name])
  }
})

test('a wildcard matches whatever the case', async () => {
  const reply = await subject.ask('Foo.APPS.example.org. A')
  expect(reply.answer.map((record) => record.name)).toEqual(['Foo.APPS.example.org.'])
})

test('the SOA of a denial has the case of the question where it points into it', async () => {
  const reply = await subject.ask('no.EXAMPLE.org. A')
  expect(reply.authority[0]?.name.toLowerCase()).toBe('example.org.')
})

test('octets that differ from letters by 0x20 do not match', async () => {
  // `[` is 0x5b and `{` is 0x7b; `@` is 0x40 and a backquote is 0x60.
  for (const name of ['{.apps[.example.org.', 'ww\\215.example.org.', 'ww@.example.org.']) {
    expect(said(await subject.ask(`${name} A`))).toEqual(nxdomain(negativeSoa.exampleOrg))
  }
})

test('labels may hold any octet: a dot, a zero, a space, all above 127', async () => {
  expect(said(await subject.ask('www\\.example.org. A'))).toEqual(bare('REFUSED'))
  for (const label of ['\\000', 'a\\000b', '\\032', '\\255\\254', 'www\\.']) {
    const bytes = query(`${label}.example.org. A`)
    const reply = decodeMessage(await exchangeUdp(subject.endpoint(), bytes))
    expect(said(reply)).toEqual(nxdomain(negativeSoa.exampleOrg))
    const question = 12 + 4
    expect(reply.bytes.subarray(12, question)).toEqual(bytes.subarray(12, question))
  }
})
