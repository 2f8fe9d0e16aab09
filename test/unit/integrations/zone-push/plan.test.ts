// What a push would do: only records that were pushed before are taken away or replaced.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planOf } from '#integrations/zone-push/plan.ts'
import type { PlanInput, PushPlan } from '#integrations/zone-push/plan.ts'
import { keysOf, setKey } from '#integrations/zone-push/record-sets.ts'
import type { RecordSet } from '#integrations/zone-push/record-sets.ts'
import { lineOf, memoryTarget, set } from '#test/support/zone-push/memory-target.ts'

const zone = 'example.com.'

interface Case {
  readonly wanted?: readonly string[]
  readonly there?: readonly string[]
  readonly owned?: readonly string[]
  readonly input?: Partial<PlanInput>
}

function planned({ wanted = [], there = [], owned = [], input = {} }: Case): PushPlan {
  return planOf({
    ...{ zone, wanted: wanted.map(set), there: there.map(set), skipped: [], hasApexNs: false },
    ...{ owned: keysOf(owned.map(set)), ...input },
  })
}

const changesOf = ({ changes }: PushPlan): readonly string[] =>
  changes.flatMap(({ owner, type, adds, deletes, after }) => [
    ...deletes.map((value) => `- ${owner} ${type} ${value}`),
    ...adds.map((value) => `+ ${owner} ${after.ttlSeconds} ${type} ${value}`),
    ...(adds.length + deletes.length === 0 ? [`~ ${owner} ${after.ttlSeconds} ${type}`] : []),
  ])

const www = 'www.example.com. 300 A 192.0.2.1'
const other = 'www.example.com. 300 A 192.0.2.9'
const both = 'www.example.com. 300 A 192.0.2.1 192.0.2.9'

describe('what is written', () => {
  test.each<readonly [says: string, given: Case, changes: readonly string[], foreign: number]>([
    ['a new record', { wanted: [www] }, ['+ www.example.com. 300 A 192.0.2.1'], 0],
    ['nothing where all is there', { wanted: [www], there: [www], owned: [www] }, [], 0],
    ['nothing where others wrote the same', { wanted: [www], there: [www] }, [], 0],
    [
      'a record of ours that is gone here',
      { there: [www], owned: [www] },
      ['- www.example.com. A 192.0.2.1'],
      0,
    ],
    ['not a record of others', { there: [www] }, [], 1],
    [
      'ours alone in a set with others',
      { there: [both], owned: [www] },
      ['- www.example.com. A 192.0.2.1'],
      1,
    ],
    [
      'ours beside that of others',
      { wanted: [www], there: [other] },
      ['+ www.example.com. 300 A 192.0.2.1'],
      1,
    ],
    [
      'another TTL',
      { wanted: [www], there: ['www.example.com. 60 A 192.0.2.1'], owned: [www] },
      ['~ www.example.com. 300 A'],
      0,
    ],
    [
      'no TTL of a set with others',
      { wanted: [www], there: ['www.example.com. 60 A 192.0.2.1 192.0.2.9'], owned: [www] },
      [],
      1,
    ],
    [
      'no TTL of a set that others wrote',
      { wanted: [www], there: ['www.example.com. 60 A 192.0.2.1'] },
      [],
      0,
    ],
    [
      'an alias in place of an address of ours',
      { wanted: ['www.example.com. 300 CNAME a.example.'], there: [www], owned: [www] },
      ['- www.example.com. A 192.0.2.1', '+ www.example.com. 300 CNAME a.example.'],
      0,
    ],
    [
      'neither SOA nor NS at the apex',
      {
        wanted: ['example.com. 300 NS ns1.example.com.', 'example.com. 300 SOA x'],
        there: [
          'example.com. 300 NS ns.cloud.example.',
          'example.com. 9 SOA y',
          'a.example.com. 9 RRSIG z',
        ],
      },
      [],
      0,
    ],
    [
      'NS at the apex, where that is asked for',
      {
        wanted: ['example.com. 300 NS ns1.example.com.'],
        there: ['example.com. 300 NS ns.cloud.example.'],
        input: { hasApexNs: true },
      },
      ['+ example.com. 300 NS ns1.example.com.'],
      1,
    ],
    [
      'a delegation below the apex',
      { wanted: ['sub.example.com. 300 NS ns1.example.com.'] },
      ['+ sub.example.com. 300 NS ns1.example.com.'],
      0,
    ],
  ])('%s', (_, given, changes, foreign) => {
    const plan = planned(given)
    expect(changesOf(plan)).toEqual(changes)
    expect(plan.foreign).toHaveLength(foreign)
    expect(plan.conflicts).toEqual([])
  })
})

describe('what is in the way stays, and nothing is written at its name', () => {
  const alias = 'www.example.com. 300 CNAME a.example.'
  test.each<readonly [says: string, given: Case, why: string]>([
    [
      'an alias of others where an address is wanted',
      { wanted: [www], there: [alias] },
      'CNAME records of others are at this name',
    ],
    [
      'another alias of others',
      { wanted: [alias], there: ['www.example.com. 300 CNAME b.example.'] },
      'it is a CNAME of others, b.example.',
    ],
    [
      'a text of others where an alias is wanted',
      { wanted: [alias], there: [www, 'www.example.com. 1 TXT "x"'], owned: [www] },
      'TXT records of others are at this name',
    ],
  ])('%s', (_, given, why) => {
    const plan = planned(given)
    expect(plan.changes).toEqual([])
    expect(plan.conflicts.map((one) => one.why)).toContain(why)
  })

  test('a set with a routing policy', () => {
    const there = [{ ...set(www), closed: 'it has a routing policy' }]
    const plan = planned({ wanted: [other], input: { there } })
    expect(plan.changes).toEqual([])
    expect(plan.conflicts).toMatchObject([{ why: 'it has a routing policy' }])
  })
})

test('records of ours that are missing are drift; replaced ones are no deletions', () => {
  const given = { wanted: [other], owned: [www, other], there: [www] }
  expect(planned(given)).toMatchObject({ missing: 1, adds: 1, deletes: 0 })
  expect(planned({ owned: [www], there: [www] })).toMatchObject({ missing: 0, adds: 0, deletes: 1 })
})

test('name servers of a name come before its DS records, and both before others', () => {
  const ds = `DS 1 13 2 ${'AB'.repeat(32)}`
  const wanted = [`b.example.com. 300 ${ds}`, 'b.example.com. 300 NS ns.example.net.']
  const { changes } = planned({ wanted: ['b.example.com. 300 TXT "x"', ...wanted] })
  expect(changes.map(({ type }) => type)).toEqual(['NS', 'DS', 'TXT'])
})

test('a plan has a digest of its own, whatever the order of its sets', () => {
  const wanted = [www, 'a.example.com. 300 A 192.0.2.1']
  const { digest } = planned({ wanted })
  expect(planned({ wanted: wanted.toReversed() }).digest).toBe(digest)
  expect(planned({ wanted: [www] }).digest).not.toBe(digest)
})

const owner = fc.constantFrom('example.com.', 'a.example.com.', 'b.example.com.', '*.example.com.')
const types = ['A', 'TXT', 'CNAME']
const sets = fc
  .uniqueArray(
    fc.record({
      ...{ owner, type: fc.constantFrom(...types), ttlSeconds: fc.constantFrom(60, 300) },
      values: fc.uniqueArray(fc.constantFrom('v1', 'v2', 'v3'), { minLength: 1 }),
    }),
    { selector: setKey },
  )
  .map((all) => all.filter(isPossible(all)).map(oneAlias))

/** A CNAME record has no others at its name, and the apex has none. */
const isPossible = (all: readonly RecordSet[]) => (one: RecordSet) =>
  one.type !== 'CNAME' ||
  (all.filter((each) => each.owner === one.owner).length === 1 && one.owner !== zone)
const oneAlias = (one: RecordSet): RecordSet =>
  one.type === 'CNAME'
    ? { ...one, values: one.values.slice(0, 1) }
    : { ...one, values: [...one.values].sort() }

test('after a push all that is wanted is there, and all that others wrote', async () => {
  await fc.assert(
    fc.asyncProperty(sets, sets, sets, async (wanted, there, pushed) => {
      const owned = keysOf(pushed)
      const target = memoryTarget(there.map(lineOf))
      const ofOthers = keysOf(there).difference(owned)
      const input = { zone, wanted, there, owned, skipped: [], hasApexNs: false }
      const plan = planOf(input)
      await target.send(plan.changes, new AbortController().signal)
      const after = [...target.sets.values()]
      const keys = keysOf(after)
      const blocked = new Set(plan.conflicts.map((one) => one.owner))
      const meant = wanted.filter((one) => !blocked.has(one.owner))
      expect([...ofOthers.difference(keys)]).toEqual([])
      expect([...keysOf(meant).difference(keys)]).toEqual([])
      const expected = keysOf([...wanted, ...there.filter((one) => blocked.has(one.owner))])
      expect([...keys.difference(expected.union(ofOthers))]).toEqual([])
      const aliased = after.filter((one) => one.type === 'CNAME')
      for (const one of aliased) {
        expect(after.filter((each) => each.owner === one.owner)).toEqual([one])
        expect(one.values).toHaveLength(1)
      }
      const again = planOf({
        ...input,
        there: after,
        owned: owned.union(keysOf(plan.changes.map((one) => ({ ...one, values: one.adds })))),
      })
      expect(again.changes).toEqual([])
    }),
    { numRuns: 500, seed: 34 },
  )
})
