import { describe, expect, test } from 'vitest'
import { licensedFeatures } from '#licence/gate.ts'
import { licenceState } from '#licence/state.ts'
import type { LicenceFacts } from '#licence/state.ts'
import {
  lackOf,
  tiers,
  tokenTiers,
  tooManyAgents,
  tooManyMembers,
  tooManyNodes,
} from '#licence/tiers.ts'
import type { Tier } from '#licence/tiers.ts'
import {
  day,
  installId,
  licenceId,
  rates,
  startMs,
  startSeconds,
  stranger,
  token,
  vendor,
} from '../../support/licences.ts'

const facts: LicenceFacts = {
  nodes: 1,
  token: null,
  vendorKey: vendor.publicKey,
  trial: null,
  installId,
  isRevoked: false,
  rates,
  nowMs: startMs,
}
const state = (parts: Partial<LicenceFacts>) => licenceState({ ...facts, ...parts })
const of = (text: string): Partial<LicenceFacts> => ({ token: { text, source: 'api' } })
const trialOf = (days: number) => ({
  kind: 'online' as const,
  startedAtMs: startMs,
  expiresAtMs: startMs + days * day * 1_000,
})
const later = (days: number): number => startMs + days * day * 1_000
const noFallback = { ...rates, expiredFallbackRPS: 0 }

describe('the state of a licence', () => {
  test.each<[string, Partial<LicenceFacts>, string, boolean, string, number]>([
    ['no token', {}, 'unlicensed', false, 'unlicensed', 5],
    ['free', of(token({ tier: 'free' })), 'valid', true, 'free', 50],
    ['paid', of(token({ tier: 'paid' })), 'valid', true, 'paid', 500],
    ['pro', of(token({ tier: 'pro' })), 'valid', true, 'pro', 2_000],
    ['enterprise', of(token({ tier: 'enterprise' })), 'valid', true, 'enterprise', 1_000_000],
    ['custom', of(token({ tier: 'custom' })), 'valid', true, 'custom', 1_000_000],
    ['a rate of its own', of(token({ maxRps: 7 })), 'valid', true, 'pro', 7],
    ['no expiry', { ...of(token({ exp: 0 })), nowMs: later(9_000) }, 'valid', true, 'pro', 2_000],
    ['this installation', of(token({ iid: installId })), 'valid', true, 'pro', 2_000],
    ['another one', of(token({ iid: 'x', maxRps: 9 })), 'node-locked', false, 'unlicensed', 5],
    ['another key', of(token({}, stranger.privateKey)), 'invalid', false, 'unlicensed', 5],
    ['no token at all', of('junk'), 'invalid', false, 'unlicensed', 5],
    ['no id', of(token({ id: '' })), 'rejected', false, 'unlicensed', 5],
    ['its last moment', { ...of(token()), nowMs: later(1) - 1 }, 'valid', true, 'pro', 2_000],
    ['its end', { ...of(token({ maxRps: 9 })), nowMs: later(1) }, 'expired', false, 'expired', 20],
    [
      'its end, without a fallback',
      { ...of(token()), nowMs: later(1), rates: noFallback },
      'expired',
      false,
      'expired',
      5,
    ],
    [
      'a revocation',
      { ...of(token({ maxRps: 9 })), isRevoked: true },
      'revoked',
      false,
      'unlicensed',
      5,
    ],
    [
      'a revocation, past its end',
      { ...of(token()), isRevoked: true, nowMs: later(1) },
      'revoked',
      false,
      'unlicensed',
      5,
    ],
    ['a trial', { trial: trialOf(30) }, 'trial', true, 'trial', 500],
    [
      'a trial, last moment',
      { trial: trialOf(7), nowMs: later(7) - 1 },
      'trial',
      true,
      'trial',
      500,
    ],
    [
      'a trial that is over',
      { trial: trialOf(7), nowMs: later(7) },
      'expired',
      false,
      'expired',
      20,
    ],
    [
      'a bad token beside a trial',
      { ...of('junk'), trial: trialOf(7) },
      'invalid',
      false,
      'unlicensed',
      5,
    ],
  ])('with %s', (_name, parts, status, valid, tier, maxRps) => {
    expect(state(parts)).toMatchObject({ status, valid, tier, maxRps, enforced: true, installId })
  })

  test('says whose token it is, and until when', () => {
    const known = { licenseId: licenceId, customerId: 'acme', expiresAt: startSeconds + day }
    expect(state(of(token()))).toMatchObject({ ...known, source: 'api' })
    expect(state({ ...of(token()), nowMs: later(2) })).toMatchObject(known)
    const nobody = { licenseId: '', customerId: '', expiresAt: 0 }
    expect(state(of(token({}, stranger.privateKey)))).toMatchObject(nobody)
    expect(state({ trial: trialOf(30) }).expiresAt).toBe(startSeconds + 30 * day)
    expect(state(of(token({ exp: Number.MAX_SAFE_INTEGER }))).valid).toBe(true)
  })

  test.each<[string, Partial<LicenceFacts>, boolean]>([
    ['without a vendor key nothing', { vendorKey: null }, false],
    ['without a vendor key not even a token', { ...of(token()), vendorKey: null }, false],
    ['before the database was read nothing', { installId: null }, false],
    ['before that, a token of the file', { token: filed('junk'), installId: null }, false],
    ['before that, one of the environment', { token: given('junk'), installId: null }, true],
  ])('%s is enforced', (_name, parts, enforced) => {
    expect(state(parts).enforced).toBe(enforced)
  })

  test('a token for one installation has the benefit of the doubt until the id is known', () => {
    const parts = { token: given(token({ iid: 'x' })), installId: null }
    expect(state(parts)).toMatchObject({ status: 'valid', maxRps: 2_000 })
  })
})

const given = (text: string) => ({ text, source: 'environment' }) as const
const filed = (text: string) => ({ text, source: 'file' }) as const

describe('features of a tier', () => {
  const [free, paid, pro, most] = [
    ['unlicensed', 'expired', 'free'],
    ['paid'],
    ['pro'],
    ['trial', 'enterprise', 'custom'],
  ] as const
  const all = [...free, ...paid, ...pro, ...most] as readonly Tier[]

  test.each<[string, readonly string[]]>([
    ['filter-chains', [...paid, ...pro, ...most]],
    ['redirects', [...paid, ...pro, ...most]],
    ['geo-rules', [...pro, ...most]],
    ['rollouts', [...pro, ...most]],
    ['rum-routing', [...pro, ...most]],
    ['response-policy', [...pro, ...most]],
    ['signal-weight', [...pro, ...most]],
    ['filter-scripts', most],
    ['custom-roles', most],
    ['extra-tenants', most],
  ])('%s', (feature, having) => {
    const known = licensedFeatures.find((one) => one === feature)!
    expect(all.filter((tier) => lackOf(tier, known) === undefined)).toEqual(having)
  })

  test('says what is missing', () => {
    expect(lackOf('unlicensed', 'filter-chains')).toBe(
      "filter chains need the paid licence tier or above; this installation's is unlicensed",
    )
    expect(lackOf('pro', 'custom-roles')).toBe(
      "custom roles need the enterprise licence tier; this installation's is pro",
    )
  })

  test.each<[readonly Tier[], number, number, number, number]>([
    [free, 3, 1, 1, 0],
    [paid, 10, 1, 1, 0],
    [pro, 50, 1, 3, 10],
    [most, Infinity, Infinity, Infinity, Infinity],
  ])('%j: members, tenants, nodes, agents', (names, membersPerPool, tenants, nodes, agents) => {
    for (const tier of names) {
      expect(tiers[tier]).toMatchObject({ membersPerPool, tenants, nodes, agents })
      const most = Math.min(membersPerPool, 100_000)
      expect(tooManyMembers(tier, most)).toBeUndefined()
      if (membersPerPool < Infinity) expect(tooManyMembers(tier, most + 1)).toContain(`${most}`)
      expect(tooManyNodes(tier, Math.min(nodes, 100_000))).toBeUndefined()
      if (nodes < Infinity) expect(tooManyNodes(tier, nodes + 1)).toContain(`${nodes + 1} nodes`)
      expect(tooManyAgents(tier, Math.min(agents, 100_000))).toBeUndefined()
      if (agents < Infinity)
        expect(tooManyAgents(tier, agents + 1)).toContain(`${agents + 1} probe`)
    }
  })

  test('every tier of a token is a tier', () => {
    for (const tier of tokenTiers) expect(tiers[tier]).toBeDefined()
  })
})
