// The guardrails on moved clients, and those that are counted in one tenant alone.
import { describe, expect, test } from 'vitest'
import { createMovedBetween } from '#judge/effects/moved-between.ts'
import { createCompiler } from '#compiler/compile.ts'
import { withMoves } from '#compiler/lower/name-outline.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import { breachBetween } from '#judge/guard/judge.ts'
import { movedBeyond } from '#judge/guard/moved-limit.ts'
import { systemClock } from '#lib/clock.ts'
import {
  asItWas,
  before,
  day,
  few,
  filesOf,
  guardedNode as node,
  handClock,
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
      const limit = (all: number) => movedBeyond({ all, tenants: new Map([['a', all]]) }, moved)
      const percent = Math.round(share * 100)
      expect(limit(percent)).toBeUndefined()
      expect(limit(percent - 1)?.tenant).toBe('')
    },
  )

  test('a share that is hardly more is not shown as the limit', () => {
    const moved = [{ tenant: 'a', name: 'x.', share: 0.0004 }]
    expect(movedBeyond({ all: 0, tenants: new Map() }, moved)?.words).toContain('sends 0.040 %')
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

describe('a change that goes back to what answered before', () => {
  test('is not held, says to which commit, and needs nobody to vouch for it', async () => {
    const { push } = node(handClock(day))
    const first = await push(before)
    await push(moved, meant)
    const back = await push(before)
    expect(back).toMatchObject({ sync: 'synced', code: '' })
    const words =
      `Commit ${back.commit.slice(0, 10)} sends 100 % of the clients of shop.example.com. ` +
      `elsewhere, more than 50 %; it goes back to commit ${first.commit.slice(0, 10)}, which ` +
      'answered until 1970-01-02 00:00 UTC, so that limit is not applied.'
    expect(back.note).toBe(words)
    expect(back.changes.at(-1)).toContain(words)
    expect((await push(asItWas)).note).toBe('')
  })

  test('is none once more: who takes back the repair has to vouch for it', async () => {
    const { push } = node()
    await push(before)
    await push(moved, meant)
    await push(before)
    expect((await push(moved)).code).toBe('GuardrailReached')
    expect((await push(moved, meant)).sync).toBe('synced')
    expect((await push(before)).sync).toBe('synced')
    expect((await push(moved)).code).toBe('GuardrailReached')
  })

  test.each([
    ['the last mistake first', { ...few, shop: [6] }],
    ['the first mistake first', { ...few, web: [7, 8] }],
  ])('is one for each of two mistakes, in any order: %s', async (_label, half) => {
    const { push } = node()
    const to = (pools: Pools) => filesOf({ default: pools }, 'movedClients: 50')
    const both = to({ web: [7, 8], shop: [6] })
    await push(before)
    await push(moved, meant)
    await push(both, meant)
    expect(await push(to(half))).toMatchObject({ sync: 'synced' })
    expect((await push(both)).code).toBe('GuardrailReached')
    expect(await push(before)).toMatchObject({ sync: 'synced' })
    for (const bad of [to(half), moved, both]) {
      expect((await push(bad)).code).toBe('GuardrailReached')
    }
  })

  test('is none for one mistake that is made again with the repair of the other', async () => {
    const { push } = node()
    const to = (pools: Pools) => filesOf({ default: pools }, 'movedClients: 50')
    await push(before)
    await push(moved, meant)
    await push(to({ web: [7, 8], shop: [6] }), meant)
    expect(await push(to({ web: [7, 8], shop: [5] }))).toMatchObject({ sync: 'synced' })
    expect((await push(moved)).code).toBe('GuardrailReached')
  })

  test('is known after other commits, of which each keeps what it did', async () => {
    const { push } = node()
    const others = (octets: readonly number[], shop: readonly number[]) =>
      filesOf({ default: { ...few, shop }, acme: { a: octets } }, 'movedClients: 50')
    await push(others([1, 2, 3], [5]))
    await push(others([1, 2, 3], [6]), meant)
    for (let added = 4; added < 10; added++) await push(others([1, 2, 3, added], [6]))
    const back = await push(others([1, 2, 3, 9], [5]))
    expect(back).toMatchObject({ sync: 'synced' })
    expect(back.note).toContain('goes back to commit')
  })

  test('is none where a name was not there, or had no address, or a pool has grown', async () => {
    const { push } = node()
    const sites = (pools: Pools) => filesOf({ default: pools }, 'movedClients: 60')
    await push(sites({ web: [1], shop: [] }))
    await push(sites({ web: [1, 2], shop: [5], late: [7] }))
    await push(sites({ web: [1, 2, 3, 4], shop: [5], late: [7] }))
    expect((await push(sites({ web: [1, 2, 3, 4], shop: [6], late: [7] }))).reason).toContain(
      '100 % of the clients of shop',
    )
    await push(sites({ web: [1, 2, 3, 4], shop: [5], late: [7] }))
    expect((await push(sites({ web: [1, 2, 3, 4], shop: [5], late: [8] }))).reason).toContain(
      '100 % of the clients of late',
    )
    await push(sites({ web: [1, 2, 3, 4], shop: [5], late: [7] }))
    expect((await push(sites({ web: [1], shop: [5], late: [7] }))).code).toBe('GuardrailReached')
  })

  test('is known to a node that was started anew', async () => {
    const { push, restart } = node()
    await push(before)
    await push(moved, meant)
    restart()
    expect(await push(before)).toMatchObject({ sync: 'synced' })
  })

  test('is known where an earlier release accepted what was good', async () => {
    const { push, upgrade } = node()
    await push(before)
    upgrade()
    await push(moved, meant)
    expect(await push(before)).toMatchObject({ sync: 'synced' })
  })

  test('is known where a request made it, to which somebody said that it is meant', async () => {
    const { push, byApi } = node(handClock(day), false)
    await push(before)
    const good = filesOf({ default: { ...few, shop: [7] } }, 'movedClients: 50')
    await push(good, meant)
    expect(await byApi(moved, meant)).toBe('synced')
    expect(await push(good)).toMatchObject({ sync: 'synced' })
  })

  test('is the same for all nodes of a remote, away or new', async () => {
    const { commit, beside } = node()
    const [here, away] = [beside('here', systemClock), beside('away', handClock(9 * day))]
    const fresh = beside('fresh', handClock(day))
    const all = async () => {
      const seen = [await here.check(), await away.check(), await fresh.check()]
      return seen.map(({ sync, code }) => code || sync)
    }
    commit(before)
    await here.check()
    await away.check()
    commit(moved, meant)
    await here.check()
    await fresh.check()
    commit(before)
    expect(await all()).toEqual(['synced', 'synced', 'synced'])
    commit(moved)
    expect(await all()).toEqual(Array(3).fill('GuardrailReached'))
  })

  test('is a change like any other after a day', async () => {
    const clock = handClock(day)
    const { push } = node(clock)
    await push(before)
    await push(moved, meant)
    clock.nowMs = () => 2 * day
    expect((await push(before)).code).toBe('GuardrailReached')
  })

  test('is judged by the limits of today, and by each of them', async () => {
    const { push } = node()
    const free = filesOf({ default: { ...few, shop: [5] } })
    await push(free)
    await push(before)
    await push(moved, meant)
    const other = filesOf({ default: { ...few, shop: [7] } }, 'movedClients: 50')
    expect((await push(other)).code).toBe('GuardrailReached')
    await push(moved)
    const fewer = filesOf({ default: { web: [1], shop: [5] } }, 'movedClients: 50')
    expect((await push(fewer)).reason).toContain('takes away 3 of the 4 members')
    await push(moved)
    expect((await push(free)).sync).toBe('synced')
  })

  test('takes members away that it had brought, and no names', async () => {
    const { push } = node()
    const two = filesOf({ default: { web: [1, 2] } })
    await push(two)
    await push(filesOf({ default: { web: [1, 2, 3, 4, 5, 6] } }))
    expect((await push(two)).note).toContain('takes away 4 of the 6 members')
    await push(filesOf({ default: { web: [1, 2], a: [1], b: [2], c: [3] } }))
    expect((await push(two)).code).toBe('NamesRemoved')
  })
})
