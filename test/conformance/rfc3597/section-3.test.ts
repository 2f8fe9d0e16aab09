// RFC 3597 section 3: a type that we have never heard of is a type that is not there.
import { describe, expect, test } from 'vitest'
import { typeNumber } from '#test/support/dns/codes.ts'
import { bare, negativeSoa, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const ordinary = ['CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'HTTPS', 'SVCB', 'DNSKEY', 'TLSA', 'DNAME']
const obsolete = ['WKS', 'NULL', 'SPF', 'LOC', 'TYPE1000', 'TYPE65279', 'TYPE65534']

describe('types', () => {
  for (const type of [...ordinary, ...obsolete]) {
    test(`${type} at a name that exists is NODATA, never NOTIMP`, async () => {
      expect(said(await subject.ask(`www.example.org. ${type}`))).toEqual(
        nodata(negativeSoa.exampleOrg),
      )
    })
  }

  test('an unknown type at an absent name is NXDOMAIN', async () => {
    expect(said(await subject.ask('no.example.org. TYPE4711'))).toEqual(
      nxdomain(negativeSoa.exampleOrg),
    )
  })
})

describe('meta types, which name no records', () => {
  for (const type of ['AXFR', 'IXFR']) {
    // A zone's apex, a name in it, one that is not there, and one of another's zone.
    for (const name of ['example.org.', 'www.example.org.', 'no.example.org.', 'example.com.']) {
      test(`${name} ${type} is REFUSED over UDP and TCP: zones are not transferred`, async () => {
        for (const tcp of [false, true]) {
          expect(said(await subject.ask(`${name} ${type}`, { tcp }))).toEqual(bare('REFUSED'))
        }
      })
    }
  }

  for (const type of ['TYPE129', 'TYPE200', 'TKEY', 'TSIG', 'MAILB', 'MAILA']) {
    test(`${type} is NOTIMP`, async () => {
      expect(typeNumber(type)).toBeGreaterThanOrEqual(128)
      expect(said(await subject.ask(`www.example.org. ${type}`))).toEqual(bare('NOTIMP'))
    })
  }
})
