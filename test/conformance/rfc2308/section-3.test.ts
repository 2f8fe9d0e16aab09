// RFC 2308 sections 2, 3 and 5: the SOA in a denial, and how long it may be believed.
import { expect, test } from 'vitest'
import { negativeSoa, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

test('the SOA of a denial has the TTL of MINIMUM when that is smaller', async () => {
  expect(said(await subject.ask('no.example.org. A'))).toEqual(nxdomain(negativeSoa.exampleOrg))
  expect(said(await subject.ask('www.example.org. TXT'))).toEqual(nodata(negativeSoa.exampleOrg))
})

test('the SOA of a denial has its own TTL when that is smaller', async () => {
  expect(said(await subject.ask('no.short.example. A'))).toEqual(nxdomain(negativeSoa.shortExample))
  expect(said(await subject.ask('short.example. TXT'))).toEqual(nodata(negativeSoa.shortExample))
})

test('a denial carries no NS records, so that it is no referral', async () => {
  const { authority } = await subject.ask('no.example.org. A')
  expect(authority.map(({ type }) => type)).toEqual([6])
})
