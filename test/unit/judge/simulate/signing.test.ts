// Tests simulations and plans of signed zones, without their keys.
import { describe, expect, test } from 'vitest'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { signingText } from '#judge/simulate/signing.ts'
import { simulate } from '#judge/simulate/simulation.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Result } from '#lib/result.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { readQuestion } from '#judge/simulate/question-text.ts'
import { full } from '#test/support/dns/signed-answers.ts'
import {
  childName,
  modelWithChild,
  signedModel,
  signedName,
} from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { planBetween } from '#test/support/plans.ts'
import { rule } from '#test/support/response-rules.ts'

const up = ['192.0.2.10']
const model = signedModel(13, up)
const bare = { ...model, zones: model.zones.map(({ algorithm: _, ...zone }) => zone) }
const rules = [
  ...[...model.responseRules, rule(3, 'exact', `plain.${signedName}`)],
  rule(4, 'exact', `rule.sub.${signedName}`, { signed: true }),
]
const simulated = (question: string, from: BundleModel) => {
  const [name = '', type = ''] = full(question).split(' ')
  const bundle = bundleOf(from)
  const parts = { client: null, seed: 1, count: 0, tables: noRoutingTables, scripts: null }
  const { qtype } = ok(readQuestion({ name, type }))
  return simulate(bundle, createRoutingState(bundle, 1), { qname: wireName(name), qtype, ...parts })
}

function ok<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

const signingOf = (question: string, from: BundleModel = { ...model, responseRules: rules }) =>
  simulated(question, from).signing

/** The name server of the zone below is in the zone above, beside a wildcard. */
function modelWithSignals(): BundleModel {
  const model = modelWithChild(15)
  const zones = model.zones.map((one, i) => (i === 0 ? { ...one, hasSignals: true as const } : one))
  const any = { name: `*.ns1.${signedName}`, zone: 0, type: RrType.TXT, ttlSeconds: 300 }
  return { ...model, zones, rrsets: [...model.rrsets, { ...any, rdata: [Buffer.from('\x03any')] }] }
}

describe('a simulated answer', () => {
  test.each([
    ['www A', 'records'],
    ['app A', 'records'],
    ['toapp A', 'records'],
    ['app AAAA', 'no-data'],
    ['none A', 'no-such-name'],
    ['www.sub A', 'delegation'],
    ['denied A', 'no-such-name'],
    ['to A', 'records'],
    ['plain A', 'nothing'],
    ['@ DNSKEY', 'unknown'],
    ['@ CDS', 'unknown'],
    ['www RRSIG', 'unknown'],
    ['www NSEC', 'records'],
    ['rule.sub A', 'nothing-at-cut'],
  ])('for %s is proved by %s', (question, proof) => {
    expect(signingOf(question)).toEqual({ zone: signedName, algorithm: 'ecdsap256sha256', proof })
  })

  test.each([
    [0, 'no-data'],
    [15, 'unknown'],
  ])('for the DS of a zone below (algorithm %s) is of the zone above', (algorithm, proof) => {
    const { zone, rcode, signing } = simulated('kid DS', modelWithChild(algorithm))
    expect([zone, rcode, signing?.zone, signing?.proof]).toEqual([
      ...[signedName, 'NOERROR', signedName, proof],
    ])
  })

  test.each([0, 15])('says no more than an alias to another zone (%s) itself', (algorithm) => {
    const above = modelWithChild(algorithm)
    const { rdata: _, ...alias } = above.rrsets.find(({ type }) => type === RrType.CNAME)!
    const rdata = [wireName(`www.${childName}`)]
    const rrsets = [...above.rrsets, { ...alias, name: `over.${signedName}`, rdata }]
    const { answerCount, signing } = simulated('over A', { ...above, rrsets })
    expect(answerCount).toBe(2)
    expect(signing).toMatchObject({ zone: signedName, proof: 'alias' })
  })

  const server = `ns1.${signedName}`
  const told = `_dsboot.${childName}_signal.ns1`
  const owner = `${told}.${signedName}`
  test.each([
    [`${told} CDS`, 'unknown', 'exact', owner],
    [`${told.toUpperCase()} CDNSKEY`, 'unknown', 'exact', owner],
    [`${told} TXT`, 'no-data', 'exact', owner],
    ['_signal.ns1 A', 'no-data', 'exact', `_signal.${server}`],
    ['_dsboot.other.test._signal.ns1 CDS', 'no-such-name', 'none', null],
    ['x.ns1 TXT', 'records', 'wildcard', `*.${server}`],
  ])('for %s tells what keys other zones have', (question, proof, match, name) => {
    const { zone, signing, ...found } = simulated(question, modelWithSignals())
    expect([zone, signing?.zone]).toEqual([signedName, signedName])
    expect([signing?.proof, found.match, found.owner]).toEqual([proof, match, name])
  })

  test('that is an error is not signed', () => {
    const { rcode, signing } = simulated('www TYPE128', model)
    expect([rcode, signing]).toEqual(['FORMERR', null])
  })

  test('is not signed in a zone that is not, or in none', () => {
    expect(signingOf('www A', { ...bare, responseRules: rules })).toBeNull()
    const bundle = bundleOf(model)
    const asked = { qname: wireName('other.test.'), qtype: 1, client: null, seed: 1, count: 0 }
    const parts = { ...asked, tables: noRoutingTables, scripts: null }
    expect(simulate(bundle, createRoutingState(bundle, 1), parts).signing).toBeNull()
  })

  test('is said in words', () => {
    expect(signingText(signingOf('none A')!)).toBe(
      'by the keys of example.org. (ecdsap256sha256); clients with DO get NOERROR, and an NSEC ' +
        'record whose type NXNAME says that there is no such name',
    )
    expect(signingText(signingOf('plain A')!)).toMatch(/SERVFAIL; write signed: true in it$/)
  })
})

test.each([
  ['becomes signed', bare, model, /^zone example\.org\. becomes signed: .*"gslbd dnssec ds exam/],
  ['is signed no more', model, bare, /^zone example\.org\. is signed no more: a DS record .* TTL/],
  [
    'is signed otherwise',
    model,
    signedModel(15, up),
    /^zone example\.org\. is signed by ed25519 in the place of ecdsa\w+: .* they roll .* a DS/,
  ],
])('a plan says what is to be done where a zone %s', (_, base, head, said) => {
  const { warnings, scenarios } = planBetween(base, head)
  expect(warnings).toEqual([expect.stringMatching(said)])
  // The keys' own records are no change of an answer.
  expect(scenarios[0]!.changes).toEqual([])
  expect(planBetween(head, head).warnings).toEqual([])
})
