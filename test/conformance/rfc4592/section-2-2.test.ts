// RFC 4592: what a wildcard covers, and what shields a name from it.
import { describe, expect, test } from 'vitest'
import { answered, negativeSoa, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import type { Said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const fromWildcard = (name: string): Said => answered(`${name} 45 IN A 192.0.2.7`)
const noData = nodata(negativeSoa.exampleOrg)
const noName = nxdomain(negativeSoa.exampleOrg)

describe('*.apps.example.org with real.apps and host.blocked.apps beside it', () => {
  const cases: readonly [title: string, question: string, expected: Said][] = [
    [
      'an absent name below is synthesized',
      'x.apps.example.org. A',
      fromWildcard('x.apps.example.org.'),
    ],
    [
      'so is one several labels below',
      'a.b.c.apps.example.org. A',
      fromWildcard('a.b.c.apps.example.org.'),
    ],
    ['a type that the wildcard lacks is NODATA', 'x.apps.example.org. AAAA', noData],
    [
      'the wildcard is a name like others',
      '*.apps.example.org. A',
      fromWildcard('*.apps.example.org.'),
    ],
    [
      'a label * inside the covered name is ordinary',
      '*.x.apps.example.org. A',
      fromWildcard('*.x.apps.example.org.'),
    ],
    ['the parent of the wildcard is an empty non-terminal', 'apps.example.org. A', noData],
    ['a name that exists is not synthesized for another type', 'real.apps.example.org. A', noData],
    ['nor anything below it', 'x.real.apps.example.org. A', noName],
    ['an empty non-terminal is not synthesized', 'blocked.apps.example.org. A', noData],
    ['nor anything below it but what is there', 'x.blocked.apps.example.org. A', noName],
    [
      'what is there is answered',
      'host.blocked.apps.example.org. A',
      answered('host.blocked.apps.example.org. 60 IN A 192.0.2.8'),
    ],
    ['a sibling of the parent is not covered', 'x.other.example.org. A', noName],
  ]
  for (const [title, question, expected] of cases) {
    test(`${title}: ${question}`, async () => {
      expect(said(await subject.ask(question))).toEqual(expected)
    })
  }
})
