// What a simulation and a plan say of zones that are signed, without their keys.
import { describe, expect, test } from 'vitest'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { signingText } from '#judge/simulate/signing.ts'
import { simulate } from '#judge/simulate/simulation.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { typeNumber } from '#test/support/dns/codes.ts'
import { full } from '#test/support/dns/signed-answers.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { planBetween } from '#test/support/plans.ts'
import { rule } from '#test/support/response-rules.ts'

const up = ['192.0.2.10']
const model = signedModel(13, up)
const bare = { ...model, zones: model.zones.map(({ algorithm: _, ...zone }) => zone) }
const rules = [...model.responseRules, rule(3, 'exact', `plain.${signedName}`)]

function signingOf(question: string, from = { ...model, responseRules: rules }) {
  const [name = '', type = ''] = full(question).split(' ')
  const bundle = bundleOf(from)
  const parts = { client: null, seed: 1, count: 0, tables: noRoutingTables, scripts: null }
  const asked = { qname: wireName(name), qtype: typeNumber(type), ...parts }
  return simulate(bundle, createRoutingState(bundle, 1), asked).signing
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
  ])('of %s is proved by %s', (question, proof) => {
    expect(signingOf(question)).toEqual({ zone: signedName, algorithm: 'ecdsap256sha256', proof })
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
    /^zone example\.org\. is signed by ed25519 in the place of ecdsap256sha256: a DS/,
  ],
])('a plan says what is to be done where a zone %s', (_, base, head, said) => {
  expect(planBetween(base, head).warnings).toEqual([expect.stringMatching(said)])
  expect(planBetween(head, head).warnings).toEqual([])
})
