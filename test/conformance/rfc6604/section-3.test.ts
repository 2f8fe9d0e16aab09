// RFC 6604: the rcode of a chain of aliases is that of its last name.
import { expect, test } from 'vitest'
import { nxdomain, said } from '#test/support/dns/said.ts'
import { staticSoa, staticZone } from '#test/support/dns/static-zone.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject({}, staticZone)

test('an alias to a name that does not exist is NXDOMAIN, with the alias and SOA', async () => {
  expect(said(await subject.ask('lost.example.org. A'))).toEqual({
    ...nxdomain(staticSoa),
    answer: ['lost.example.org. 60 IN CNAME nowhere.example.org.'],
  })
})
