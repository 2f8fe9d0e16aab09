// The guardrails on moved clients, and those that are counted in one tenant alone.
import { describe, expect, test } from 'vitest'
import { createMovedBetween } from '#judge/effects/moved-between.ts'
import { createCompiler } from '#compiler/compile.ts'
import { withMoves } from '#compiler/lower/name-outline.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import { breachBetween } from '#judge/guard/judge.ts'
import { movedBeyond } from '#judge/guard/moved-limit.ts'
import {
  before,
  few,
  filesOf,
  guardedNode as node,
  meant,
  moved,
} from '#test/support/guarded-node.ts'
import type { Pools } from '#test/support/guarded-node.ts'
import { sourceFile } from '../../compiler/fixture.ts'

const movedBetween = createMovedBetween({})

function outlineOf(files: Record<string, string>): NameOutline {
  const sources = Object.entries(files).map(([path, text]) => sourceFile(path, text))
  const result = createCompiler().compile(sources, { commit: '' })
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return withMoves(result.outline(), result.bundle.bytes, movedBetween)
}

const tenants = { acme: { a: [1], b: [2] }, other: { c: [3], d: [4], e: [5], f: [6], g: [7] } }
const { b: _b, ...withoutB } = tenants.acme
const shrunk = { ...tenants, acme: withoutB }

type Row = readonly [
  label: string,
  before: Record<string, string>,
  after: Record<string, string>,
  words: RegExp | undefined,
]

describe('by how many clients go elsewhere', () => {
  const to = (pools: Pools, limits = '') => filesOf({ default: pools }, limits)
  test.each<Row>([
    ['no limit', to(few), to({ ...few, shop: [6] }), undefined],
    ['nobody moves', to(few, 'movedClients: 0'), to(few), undefined],
    [
      'all of one name',
      to(few, 'movedClients: 99'),
      to({ ...few, shop: [6] }),
      /^sends 100 % of the clients of shop.example.com. elsewhere, more than 99 %$/,
    ],
    ['as many as may', to(few, 'movedClients: 25'), to({ ...few, web: [1, 2, 3] }), undefined],
    [
      'one of four members',
      to(few, 'movedClients: 24'),
      to({ ...few, web: [1, 2, 3] }),
      /^sends 25 % of the clients of web/,
    ],
    [
      'the limit goes with the change',
      to(few, 'movedClients: 24'),
      to({ ...few, web: [1, 2, 3] }),
      /^sends 25 %/,
    ],
    [
      'the first member of a pool',
      to({ ...few, shop: [] }, 'movedClients: 0'),
      to({ ...few, shop: [5] }),
      undefined,
    ],
    [
      'the last member of a pool',
      to(few, 'movedClients: 99, removedMembers: 100, removedNames: 100, lostAnswers: 1'),
      to({ ...few, shop: [] }),
      /^sends 100 % of the clients of shop.example.com. elsewhere/,
    ],
    ['a name that comes', to(few, 'movedClients: 0'), to({ ...few, new: [9] }), undefined],
    [
      'of a tenant',
      filesOf(tenants, 'tenants: { acme: { movedClients: 0 } }'),
      filesOf({ ...tenants, acme: { a: [1], b: [9] } }),
      /^sends 100 % of the clients of b.example.com. elsewhere, more than 0 %, of tenant "acme"$/,
    ],
    [
      'of another tenant',
      filesOf(tenants, 'tenants: { acme: { movedClients: 0 } }'),
      filesOf({ ...tenants, other: { ...tenants.other, c: [9] } }),
      undefined,
    ],
  ])('%s', (_label, before, after, words) => {
    const breach = breachBetween(outlineOf(before), outlineOf(after))
    if (words === undefined) expect(breach).toBeUndefined()
    else {
      expect(breach?.code).toBe('GuardrailReached')
      expect(breach?.words).toMatch(words)
    }
  })

  test.each([0.07, 0.14, 0.28, 0.55, 0.8])(
    'a share of %d reaches its limit, and not more',
    (share) => {
      const moved = [{ tenant: 'a', name: 'x.', share }]
      const limit = (all: number) =>
        movedBeyond({ movedClients: all, tenants: { a: { movedClients: all } } }, moved)
      const percent = Math.round(share * 100)
      expect(limit(percent)).toBeUndefined()
      expect(limit(percent - 1)?.tenant).toBe('')
    },
  )

  test('a share that is hardly more is not shown as the limit', () => {
    const moved = [{ tenant: 'a', name: 'x.', share: 0.0004 }]
    expect(movedBeyond({ movedClients: 0 }, moved)?.words).toContain('sends 0.040 %')
  })
})

describe('counted in one tenant', () => {
  const limits = 'removedNames: 100, tenants: { acme: { removedNames: 40 } }'
  const lines: readonly Row[] = [
    ['within the limits of all', filesOf(tenants), filesOf(shrunk), undefined],
    [
      'all that it has, which is little of the whole',
      filesOf(tenants, limits),
      filesOf({ other: tenants.other }, limits),
      /^removes 2 of 2 names .*, of tenant "acme"$/,
    ],
    ['one of two may go', filesOf(tenants, limits), filesOf(shrunk, limits), undefined],
    [
      'each that is not named',
      filesOf(tenants, 'removedNames: 100, tenants: { "*": { removedNames: 40 } }'),
      filesOf({ ...tenants, other: { c: [3], d: [4] } }),
      /^removes 3 of 5 names .*, of tenant "other"$/,
    ],
    [
      'one that is named is not among those',
      filesOf(tenants, 'removedNames: 100, tenants: { "*": { removedNames: 0 }, other: {} }'),
      filesOf({ ...tenants, other: { c: [3], d: [4] } }),
      undefined,
    ],
    [
      'members of its pools',
      filesOf({ acme: { a: [1, 2, 3, 4] } }, 'tenants: { acme: { removedMembers: 30 } }'),
      filesOf({ acme: { a: [1, 2] } }),
      /^takes away 2 of the 4 members .*more than 30 %, of tenant "acme"$/,
    ],
  ]
  test.each<Row>(lines)('%s', (_label, before, after, words) => {
    const breach = breachBetween(outlineOf(before), outlineOf(after))
    if (words === undefined) expect(breach).toBeUndefined()
    else expect(breach?.words).toMatch(words)
  })
})

test('a node holds a commit that moves too many, and the one that takes it back', async () => {
  const { push } = node()
  expect((await push(before)).sync).toBe('synced')
  const status = await push(moved)
  expect(status).toMatchObject({ sync: 'held', code: 'GuardrailReached' })
  expect(status.reason).toContain('sends 100 % of the clients of shop.example.com. elsewhere')
  expect((await push(before)).sync).toBe('synced')
  expect((await push(moved, meant)).sync).toBe('synced')
})
