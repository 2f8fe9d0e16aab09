// Response rules that say `signed: true`: what they answer in a zone that is signed is signed.
import { expect, test } from 'vitest'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { typeName } from '#test/support/dns/codes.ts'
import { answering, full, typesIn } from '#test/support/dns/signed-answers.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { rule } from '#test/support/response-rules.ts'

const at = (name: string): string => `${name}.${signedName}`
const away = { action: 'cname', target: at('www'), signed: true } as const
const bundle = bundleOf({
  ...signedModel(15, ['192.0.2.10']),
  responseRules: [
    rule(1, 'exact', at('denied'), { signed: true }),
    rule(2, 'domain', at('below'), { signed: true }),
    rule(3, 'domain', at('to'), away),
    rule(4, 'exact', at('plain')),
    rule(5, 'domain', at('ns1.sub'), { signed: true }),
    rule(6, 'exact', at('sub'), { signed: true }),
    rule(7, 'exact', 'other.test.', { ...away, target: at('denied') }),
    rule(8, 'domain', at('x.old'), { signed: true }),
    rule(9, 'exact', at('elsewhere'), { ...away, target: 'there.test.' }),
  ],
})
const key = generateZoneKey(signingAlgorithm(15)!)
const signing = () =>
  answering(bundle, packKeys([{ zone: wireName(signedName), key, use: everyUse }]))
const proof = ['SOA', 'RRSIG', 'NSEC', 'RRSIG']

test.each([
  ['denied A', [], proof],
  ['denied DS', [], proof],
  ['a.b.below A', [], proof],
  ['to A', ['CNAME', 'RRSIG', 'A', 'A', 'A', 'RRSIG'], []],
  ['a.b.to A', ['CNAME', 'RRSIG', 'A', 'A', 'A', 'RRSIG'], []],
  ['to CNAME', ['CNAME', 'RRSIG'], []],
  ['elsewhere A', ['CNAME', 'RRSIG'], []],
  ['x.old A', [], proof],
  ['denied NSEC', ['NSEC', 'RRSIG'], []],
])('%s is signed', (question, found, authority) => {
  const reply = signing().ask(full(question))
  expect(reply.rcode).toBe(0)
  expect(typesIn(reply.answer)).toEqual(found)
  expect(typesIn(reply.authority)).toEqual(authority)
  expect(reply.aa).toBe(true)
})

test('a name that is denied has the type NXNAME, and why in words', () => {
  const { authority, opt } = signing().ask(full('denied A'))
  const nsec = authority.find(({ type }) => typeName(type) === 'NSEC')!
  // The bits of RRSIG, NSEC and NXNAME, which is 128: the last one of its window.
  expect(nsec.rdataText).toMatch(/0011000000000003(00){10}80$/)
  expect(opt!.options.map(({ code }) => code)).toContain(15)
})

test.each([
  ['to NSEC', ['NSEC', 'RRSIG']],
  ['a.b.to NSEC', ['NSEC', 'RRSIG']],
  ['elsewhere RRSIG', ['RRSIG']],
])('%s is not led on by the alias of a rule', (question, found) => {
  const { answer, rcode } = signing().ask(full(question))
  expect(rcode).toBe(0)
  expect(typesIn(answer)).toEqual(found)
  // The bits of CNAME, RRSIG and NSEC.
  if (found[0] === 'NSEC') expect(answer[0]!.rdataText).toMatch(/0006040000000003$/)
})

test.each([
  ['without DO', { dnssecOk: false }, 3, ['SOA']],
  ['with CO', { dnssecOk: true, flags: 0x4000 }, 3, proof],
])('a client %s gets NXDOMAIN', (_, opt, rcode, authority) => {
  const reply = signing().ask(full('denied A'), { opt })
  expect(reply.rcode).toBe(rcode)
  expect(typesIn(reply.authority)).toEqual(authority)
})

test.each([
  ['that does not say so', full('plain A'), ['SOA']],
  ['below a cut, which another zone begins at', full('ns1.sub A'), ['SOA']],
  ['at a cut', full('sub A'), ['SOA']],
])('a rule %s is not signed', (_, question, authority) => {
  const reply = signing().ask(question)
  expect(reply.rcode).toBe(3)
  expect(typesIn(reply.authority)).toEqual(authority)
})

test('an alias of a name in no zone of ours is not signed; it decides for the whole answer', () => {
  const reply = signing().ask('other.test. A')
  expect(typesIn(reply.answer)).toEqual(['CNAME'])
  expect(reply.aa).toBe(false)
})

test('without its key, a zone gives what a rule says to nobody who asks for signatures', () => {
  const keyless = answering(bundle)
  for (const question of ['denied A', 'to A']) {
    expect(keyless.ask(full(question)).rcode).toBe(2)
    expect(keyless.ask(full(question), { opt: { dnssecOk: false } }).rcode).not.toBe(2)
  }
})

test.each(['exact', 'domain'] as const)(
  'a rule at a signed apex (%s) hides nothing that proves the zone',
  (kind) => {
    for (const isSigned of [true, false]) {
      const responseRules = [rule(1, kind, signedName, { signed: isSigned })]
      const ruled = bundleOf({ ...signedModel(15, ['192.0.2.10']), responseRules })
      const keys = packKeys([{ zone: wireName(signedName), key, use: everyUse }])
      const { ask } = answering(ruled, keys)
      for (const type of ['DNSKEY', 'CDS', 'CDNSKEY']) {
        expect(typesIn(ask(full(`@ ${type}`)).answer)).toEqual([type, 'RRSIG'])
      }
      expect(typesIn(ask(full('@ DS')).authority)).toEqual(proof)
      expect(ask(full('@ DS')).rcode).toBe(0)
      expect(typesIn(ask(full('@ A')).answer)).toEqual([])
    }
  },
)
