// RFC 6672: DNAME moves the names below its owner.
import { describe, expect, test } from 'vitest'
import { answered, said } from '#test/support/dns/said.ts'
import { staticSoa, staticZone } from '#test/support/dns/static-zone.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject({}, staticZone)
const dname = 'old.example.org. 60 IN DNAME new.example.org.'
const cname = 'HOST.old.example.org. 60 IN CNAME HOST.new.example.org.'

describe('a name below the owner of DNAME', () => {
  test('is answered with DNAME, the CNAME that follows, and its target', async () => {
    const address = 'HOST.new.example.org. 60 IN A 192.0.2.2'
    expect(said(await subject.ask('HOST.old.example.org. A'))).toEqual(
      answered(dname, cname, address),
    )
  })

  test('has that CNAME for who asks for CNAME', async () => {
    expect(said(await subject.ask('HOST.old.example.org. CNAME'))).toEqual(answered(dname, cname))
  })

  test('that would become too long is YXDOMAIN, with DNAME', async () => {
    const reply = said(await subject.ask(`${'x'.repeat(60)}.long.example.org. A`))
    expect([reply.rcode, reply.aa, reply.answer.length]).toEqual(['YXDOMAIN', true, 1])
  })
})

test('a chain through one DNAME twice has it once', async () => {
  expect(said(await subject.ask('again.old.example.org. A'))).toEqual(
    answered(
      dname,
      'again.old.example.org. 60 IN CNAME again.new.example.org.',
      'again.new.example.org. 60 IN CNAME host.old.example.org.',
      'host.old.example.org. 60 IN CNAME host.new.example.org.',
      'host.new.example.org. 60 IN A 192.0.2.2',
    ),
  )
})

test('the owner of DNAME itself does not move', async () => {
  expect(said(await subject.ask('old.example.org. DNAME'))).toEqual(answered(dname))
  const reply = said(await subject.ask('old.example.org. A'))
  expect([reply.rcode, reply.answer, reply.authority]).toEqual(['NOERROR', [], [staticSoa]])
})
