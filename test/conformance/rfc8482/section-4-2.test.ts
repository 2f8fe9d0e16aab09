// RFC 8482 section 4.2: ANY is answered with one synthesized HINFO.
import { describe, expect, test } from 'vitest'
import { bare, negativeSoa, nxdomain, said } from '#test/support/dns/said.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const names = [
  'www.example.org.',
  'dual.example.org.',
  'example.org.',
  'x.apps.example.org.',
  'ent.example.org.',
  'none.example.org.',
]

describe('ANY at a name that exists', () => {
  for (const name of names) {
    test(`is one HINFO "RFC8482", over UDP and TCP: ${name}`, async () => {
      for (const tcp of [false, true]) {
        const reply = await subject.ask(`${name} ANY`, { tcp })
        expect(reply).toMatchObject({
          rcode: 0,
          aa: true,
          tc: false,
          authority: [],
          additional: [],
        })
        expect(reply.answer).toMatchObject([
          { name, type: 13, class: 1, rdataText: '"RFC8482" ""' },
        ])
        expect(reply.answer[0]?.ttl).toBeGreaterThan(0)
      }
    })
  }
})

test('ANY at an absent name is NXDOMAIN', async () => {
  expect(said(await subject.ask('no.example.org. ANY'))).toEqual(nxdomain(negativeSoa.exampleOrg))
})

test('ANY outside our zones is REFUSED', async () => {
  expect(said(await subject.ask('www.elsewhere.test. ANY'))).toEqual(bare('REFUSED'))
})
