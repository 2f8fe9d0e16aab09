import assert from 'node:assert/strict'
import { test } from 'vitest'
import { noFacts } from '#compiler/lower/name-outline.ts'
import { Presence } from '#compiler/lower/name-standing.ts'
import { judgeLimits } from '#judge/limits.ts'
import { RecentChanges } from '#judge/requests/recent-changes.ts'
import type { Touched } from '#judge/requests/touched.ts'

const { Absent, Empty, Answers } = Presence
const change = (name: string, was: Presence, now: Presence, shapes = [0, 0]): Touched => {
  const [before = 0, after = 0] = shapes
  const facts = { ...noFacts, tenant: 'acme', ttlSeconds: 60 }
  const pair = {
    was: { ...facts, standing: was, shape: before },
    now: { ...facts, standing: now, shape: after },
  }
  return { names: new Map([[name, pair]]), pools: new Map() }
}
const pool = (was: readonly string[], now: readonly string[]): Touched => {
  const [before, after] = [was, now].map((members) => ({ members, tenant: 'acme' }))
  return { names: new Map(), pools: new Map([['web', { was: before, now: after }]]) }
}
const none = new Map<string, never>()

function scene() {
  let nowMs = 0
  const recent = new RecentChanges({ nowMs: () => 0, monotonicMs: () => nowMs })
  const lost = (own?: Touched, of = recent): string[] =>
    [...of.names.with(own?.names ?? none)]
      .filter(([, { was, now }]) => now!.standing < was!.standing)
      .map(([name]) => name)
      .sort()
  const wait = (ms: number): void => void (nowMs += ms)
  return { recent, lost, wait }
}

test('a name counts as lost for ten minutes', () => {
  const { recent, lost, wait } = scene()
  recent.record(change('a.', Answers, Absent))
  wait(judgeLimits.removalWindowMs - 1)
  recent.record(change('b.', Answers, Empty))
  assert.deepEqual(lost(change('c.', Answers, Absent)), ['a.', 'b.', 'c.'])
  wait(1)
  assert.deepEqual(lost(), ['b.'])
  wait(judgeLimits.removalWindowMs)
  assert.deepEqual(lost(), [])
})

test('the time of a name begins with its first change, and no later one prolongs it', () => {
  const { recent, lost, wait } = scene()
  recent.record(change('a.', Answers, Empty))
  wait(judgeLimits.removalWindowMs / 2)
  recent.record(change('a.', Empty, Absent))
  assert.deepEqual(lost(), ['a.'])
  wait(judgeLimits.removalWindowMs / 2)
  assert.deepEqual(lost(), [])
})

test('an edit does not begin the time of a removal that comes later', () => {
  const { recent, lost, wait } = scene()
  recent.record(change('a.', Answers, Answers, [1, 2]))
  wait(judgeLimits.removalWindowMs - 1)
  recent.record(change('a.', Answers, Absent, [2, 0]))
  wait(judgeLimits.removalWindowMs - 1)
  assert.deepEqual(lost(), ['a.'])
  wait(1)
  assert.deepEqual(lost(), [])
})

test('a name seen by another judge does not make up for a loss', () => {
  const { recent, lost } = scene()
  recent.record(change('a.', Answers, Empty))
  recent.settle(change('a.', Empty, Empty, [3, 4]))
  assert.deepEqual(lost(), ['a.'])
  recent.settle(change('a.', Empty, Answers, [4, 5]))
  assert.deepEqual(lost(), [])
})

test('changes of a name are one from its first state, and none where it is back', () => {
  const { recent } = scene()
  recent.record(change('a.', Answers, Answers, [1, 3]))
  const { was, now } = recent.names.with(change('a.', Answers, Answers, [10, 15]).names).get('a.')!
  assert.equal(now!.shape - was!.shape, 7)
  recent.record(change('a.', Answers, Answers, [3, 1]))
  assert.equal(recent.names.size, 0)
})

test('a pool is what it was before the first change', () => {
  const { recent } = scene()
  recent.record(pool(['1', '2', '3'], ['1', '2']))
  const copy = recent.fork()
  copy.record(pool(['1', '2'], ['1']))
  assert.deepEqual(copy.pools.with(none).get('web')?.was?.members, ['1', '2', '3'])
  copy.record(pool(['1'], ['1', '2', '3']))
  assert.deepEqual([...copy.pools.with(none)], [])
  assert.deepEqual(recent.pools.with(none).get('web')?.now?.members, ['1', '2'])
})

test('changes that another judge has seen, or somebody vouches for, do not count', () => {
  const { recent, lost } = scene()
  for (const name of ['a.', 'b.', 'c.']) recent.record(change(name, Answers, Absent))
  recent.settle(change('b.', Absent, Answers))
  assert.deepEqual(lost(), ['a.', 'c.'])
  const copy = recent.fork()
  copy.forget()
  assert.deepEqual([lost(undefined, copy), lost()], [[], ['a.', 'c.']])
})
