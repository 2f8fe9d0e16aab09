// Hit counts: carried from bundle to bundle by uid, and right beyond 32 bits.
import { expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { hitCells, ResponseHits } from '#answer/counters/response-hits.ts'
import { bundleOf, smallModel } from '../../../support/bundle-models.ts'
import { createRuleAnswerer, rule } from '../../../support/response-rules.ts'

const bundleWith = (...responseRules: ResponseRuleModel[]): Bundle =>
  bundleOf({ ...smallModel, responseRules })
const memory = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes)

test('rules that stay keep their counts, whatever comes and goes around them', () => {
  const hits = new ResponseHits()
  const [a, b, c] = [1, 2, 3].map((i) => rule(i * 100, 'exact', `${i}.example.`)) as [
    ResponseRuleModel,
    ResponseRuleModel,
    ResponseRuleModel,
  ]
  const first = bundleWith(a, b)
  const cells = hitCells(first, hits.carry(first, memory))
  cells[0] = 7
  cells[2] = 9
  hits.carry(bundleWith(rule(1, 'exact', 'before.example.'), b, c), memory)
  expect(hits.read().map((one) => [one.trigger, one.hits])).toEqual([
    ['before.example.', 0],
    ['2.example.', 9],
    ['3.example.', 0],
  ])
})

test('the same rules in another bundle go on in the same memory', () => {
  const hits = new ResponseHits()
  const one = rule(1, 'exact', 'a.example.')
  const buffer = hits.carry(bundleWith(one), memory)
  const changed = { ...one, action: 'passthru' as const, source: 'feed' }
  expect(hits.carry(bundleWith(changed), memory)).toBe(buffer)
  expect(hits.read()).toEqual([
    { uid: one.uid, source: 'feed', triggerType: 'exact', trigger: 'a.example.', hits: 0 },
  ])
})

test('a count goes on beyond 32 bits', () => {
  const model = { ...smallModel, responseRules: [rule(1, 'domain', 'bad.example.')] }
  const { ask, hits, cells } = createRuleAnswerer(model)
  cells[0] = -2
  for (let i = 0; i < 3; i++) ask('x.bad.example. A')
  expect(hits.read()[0]!.hits).toBe(2 ** 32 + 1)
})

test('sums by source, for metrics', () => {
  const hits = new ResponseHits()
  const bundle = bundleWith(
    rule(1, 'exact', 'a.example.'),
    rule(2, 'exact', 'b.example.', { source: 'feed' }),
    rule(3, 'exact', 'c.example.', { source: 'feed' }),
  )
  hitCells(bundle, hits.carry(bundle, memory)).set([1, 0, 2, 0, 4, 0])
  expect([...hits.bySource()]).toEqual([
    ['local', 1],
    ['feed', 6],
  ])
  // A sum never falls, or a rate over it would jump.
  hits.carry(bundleWith(rule(1, 'exact', 'a.example.'), rule(9, 'exact', 'new.example.')), memory)
  expect(Object.fromEntries(hits.bySource())).toEqual({ local: 1, feed: 6 })
})

test('sources that are gone are remembered up to a bound', () => {
  const hits = new ResponseHits()
  for (let i = 0; i < 1_003; i++) {
    const bundle = bundleWith(rule(i, 'exact', 'a.example.', { source: `feed-${i}` }))
    hitCells(bundle, hits.carry(bundle, memory))[0] = 1
  }
  const sums = hits.bySource()
  // The last one still serves, and two more than there is room for are gone.
  expect([sums.size, sums.get('other')]).toEqual([1_002, 2])
})

test('before the first bundle there is nothing to say', () => {
  const hits = new ResponseHits()
  expect([hits.read(), [...hits.bySource()]]).toEqual([[], []])
})
