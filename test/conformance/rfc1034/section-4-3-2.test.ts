// RFC 1034: the algorithm of a name server, step 3: cuts on the way down, aliases, data.
import { describe, expect, test } from 'vitest'
import { answered, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import type { Said } from '#test/support/dns/said.ts'
import { staticSoa, staticZone } from '#test/support/dns/static-zone.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject({}, staticZone)
const referral: Said = {
  rcode: 'NOERROR',
  aa: false,
  answer: [],
  authority: [
    'sub.example.org. 60 IN NS ns.sub.example.org.',
    'sub.example.org. 60 IN NS ns1.example.org.',
  ],
  additional: ['ns.sub.example.org. 60 IN A 192.0.2.3', 'ns1.example.org. 60 IN A 192.0.2.53'],
}

describe('step 3b: a zone cut', () => {
  test.each([
    ['at the cut', 'sub.example.org. A'],
    ['its NS records', 'sub.example.org. NS'],
    ['below the cut', 'a.b.sub.example.org. TXT'],
    ['glue', 'ns.sub.example.org. A'],
  ])('a question for a name %s is referred, and not as an authority', async (_title, question) => {
    expect(said(await subject.ask(question))).toEqual(referral)
  })

  test('an alias that leads below a cut is answered, and its target referred', async () => {
    const alias = 'tosub.example.org. 60 IN CNAME www.sub.example.org.'
    const { authority, additional } = referral
    const expected = { ...answered(alias), authority, additional }
    expect(said(await subject.ask('tosub.example.org. A'))).toEqual(expected)
  })

  test('DS at a cut is answered here: RFC 4035 section 3.1.4.1', async () => {
    const reply = said(await subject.ask('sub.example.org. DS'))
    expect([reply.aa, reply.answer.length, reply.authority]).toEqual([true, 1, []])
    expect(said(await subject.ask('wide.example.org. DS'))).toEqual(nodata(staticSoa))
  })
})

describe('step 3a: an alias', () => {
  const chain = [
    'alias.example.org. 60 IN CNAME Alias2.example.org.',
    'Alias2.example.org. 60 IN CNAME www.example.org.',
  ]
  const rows: readonly [title: string, question: string, expected: Said][] = [
    [
      'is followed to its end',
      'alias.example.org. A',
      answered(...chain, 'www.example.org. 60 IN A 192.0.2.1'),
    ],
    [
      'without the type at its end',
      'alias.example.org. MX',
      { ...nodata(staticSoa), answer: chain.toSorted() },
    ],
    ['is data for who asks for it', 'alias.example.org. CNAME', answered(chain[0]!)],
    [
      'that leads elsewhere is all there is',
      'out.example.org. A',
      answered('out.example.org. 60 IN CNAME www.example.net.'),
    ],
    [
      'may stand at a wildcard',
      'any.star.example.org. TXT',
      answered(
        'any.star.example.org. 60 IN CNAME www.example.org.',
        'www.example.org. 60 IN TXT "hello"',
      ),
    ],
    [
      'that goes round is given once',
      'round.example.org. A',
      answered(
        'about.example.org. 60 IN CNAME round.example.org.',
        'round.example.org. 60 IN CNAME about.example.org.',
      ),
    ],
  ]
  test.each(rows)('%s', async (_title, question, expected) => {
    expect(said(await subject.ask(question))).toEqual(expected)
  })

  test('ANY at an alias is the alias: RFC 8482 section 4.2', async () => {
    expect(said(await subject.ask('alias.example.org. ANY'))).toEqual(answered(chain[0]!))
  })
})

test('the addresses of a target come along', async () => {
  expect(said(await subject.ask('mail.example.org. MX'))).toEqual({
    ...answered('mail.example.org. 60 IN MX 10 www.example.org.'),
    additional: ['www.example.org. 60 IN A 192.0.2.1'],
  })
})

test('a name that no zone has is denied', async () => {
  expect(said(await subject.ask('nowhere.example.org. MX'))).toEqual(nxdomain(staticSoa))
})
