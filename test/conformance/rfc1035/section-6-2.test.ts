// RFC 1035 section 6.2 and RFC 8906 section 8.1: what is answered for which name and type.
import { describe, expect, test } from 'vitest'
import { answered, bare, negativeSoa, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import type { Said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

const cases: readonly [title: string, question: string, expected: Said][] = [
  ['A of a service', 'www.example.org. A', answered('www.example.org. 60 IN A 192.0.2.1')],
  [
    'AAAA of a service',
    'six.example.org. AAAA',
    answered('six.example.org. 60 IN AAAA 2001:db8::1'),
  ],
  ['A beside AAAA', 'dual.example.org. A', answered('dual.example.org. 300 IN A 192.0.2.2')],
  [
    'AAAA beside A',
    'dual.example.org. AAAA',
    answered('dual.example.org. 300 IN AAAA 2001:db8::2'),
  ],
  ['A of the apex', 'example.org. A', answered('example.org. 90 IN A 192.0.2.80')],
  ['A of a name server', 'ns1.example.org. A', answered('ns1.example.org. 120 IN A 192.0.2.53')],
  [
    'A in a zone inside a zone',
    'www.sub.example.org. A',
    answered('www.sub.example.org. 60 IN A 192.0.2.4'),
  ],
  ['AAAA where only A is', 'www.example.org. AAAA', nodata(negativeSoa.exampleOrg)],
  ['A where only AAAA is', 'six.example.org. A', nodata(negativeSoa.exampleOrg)],
  ['A of a service without members', 'none.example.org. A', nodata(negativeSoa.exampleOrg)],
  ['A of a service without enabled members', 'down.example.org. A', nodata(negativeSoa.exampleOrg)],
  ['MX of the apex', 'example.org. MX', nodata(negativeSoa.exampleOrg)],
  ['SOA below the apex', 'www.example.org. SOA', nodata(negativeSoa.exampleOrg)],
  ['NS below the apex', 'www.example.org. NS', nodata(negativeSoa.exampleOrg)],
  ['an absent name', 'nothere.example.org. A', nxdomain(negativeSoa.exampleOrg)],
  ['an absent name far below', 'a.b.c.d.example.org. A', nxdomain(negativeSoa.exampleOrg)],
  ['a name below a service', 'a.www.example.org. A', nxdomain(negativeSoa.exampleOrg)],
  [
    'an absent name of the inner zone',
    'no.sub.example.org. A',
    nxdomain(negativeSoa.subExampleOrg),
  ],
  ['an apex without a service', 'sub.example.org. A', nodata(negativeSoa.subExampleOrg)],
  ['a name outside every zone', 'www.elsewhere.test. A', bare('REFUSED')],
  ['the root', '. NS', bare('REFUSED')],
  ['the parent of a zone', 'org. NS', bare('REFUSED')],
  ['a name that only ends like a zone', 'badexample.org. A', bare('REFUSED')],
  [
    'the DS of an inner apex, which the outer zone has',
    'sub.example.org. DS',
    nodata(negativeSoa.exampleOrg),
  ],
  ['the DS of an apex whose parent is not ours', 'example.org. DS', nodata(negativeSoa.exampleOrg)],
]

describe('over UDP and over TCP alike', () => {
  for (const [title, question, expected] of cases) {
    test(`${title}: ${question}`, async () => {
      expect(said(await subject.ask(question))).toEqual(expected)
      expect(said(await subject.ask(question, { tcp: true }))).toEqual(expected)
    })
  }
})

describe('the apex', () => {
  test('has one SOA with its own TTL', async () => {
    expect(said(await subject.ask('example.org. SOA'))).toEqual(
      answered(
        'example.org. 120 IN SOA ns1.example.org. hostmaster.example.org. SERIAL 3600 600 86400 30',
      ),
    )
  })

  test('has its NS records, with the addresses of those inside the zone', async () => {
    expect(said(await subject.ask('example.org. NS'))).toEqual({
      ...answered(
        'example.org. 120 IN NS ns1.example.org.',
        'example.org. 120 IN NS ns2.example.net.',
      ),
      additional: [
        'ns1.example.org. 120 IN A 192.0.2.53',
        'ns1.example.org. 120 IN AAAA 2001:db8::53',
      ],
    })
  })

  test('says the same serial in the answer and in denials', async () => {
    const serialOf = (text: string | undefined): string | undefined => text?.split(' ')[2]
    const own = await subject.ask('example.org. SOA')
    const denial = await subject.ask('nothere.example.org. A')
    expect(serialOf(own.answer[0]?.rdataText)).toBe(serialOf(denial.authority[0]?.rdataText))
  })
})
