// RFC 8020: NXDOMAIN says that nothing is below, so an empty non-terminal is NODATA.
import { expect, test } from 'vitest'
import { negativeSoa, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

for (const name of ['ent.example.org.', 'deep.ent.example.org.', 'apps.example.org.']) {
  test(`${name} has names below and no records: NODATA for every type`, async () => {
    for (const type of ['A', 'AAAA', 'NS', 'SOA', 'TXT', 'TYPE65000']) {
      expect(said(await subject.ask(`${name} ${type}`))).toEqual(nodata(negativeSoa.exampleOrg))
    }
  })
}

test('beside an empty non-terminal there is nothing', async () => {
  expect(said(await subject.ask('x.ent.example.org. A'))).toEqual(nxdomain(negativeSoa.exampleOrg))
})

test('a service of one address family never says NXDOMAIN for the other', async () => {
  expect((await subject.ask('www.example.org. AAAA')).rcode).toBe(0)
  expect((await subject.ask('six.example.org. A')).rcode).toBe(0)
})
