import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Presence } from '#compiler/lower/name-standing.ts'
import { judgeLimits } from '#judge/limits.ts'
import { RecentNames } from '#judge/requests/recent-names.ts'
import type { NameChanges } from '#judge/requests/name-ledger.ts'

const { Absent, Empty, Answers } = Presence
const change = (name: string, before: Presence, now: Presence): NameChanges =>
  new Map([[name, { before, now }]])
const none: NameChanges = new Map()

function scene() {
  let nowMs = 0
  const recent = new RecentNames({ nowMs: () => 0, monotonicMs: () => nowMs })
  const lost = (changes = none): string[] =>
    recent.lossWith(changes).all.names.map(({ name }) => name)
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
  assert.deepEqual(recent.lossWith(none).all, { names: [], surplus: 0 })
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

test('what there was before is known from what there is now', () => {
  const { recent } = scene()
  recent.record(change('gone.', Answers, Absent))
  recent.record(change('new.', Absent, Answers))
  recent.record(change('newer.', Absent, Answers))
  assert.equal(recent.lossWith(none).all.surplus, -1)
  assert.equal(recent.lossWith(change('new.', Answers, Absent)).all.surplus, 0)
})

test('what another judge has seen, or somebody vouches for, counts no more', () => {
  const { recent, lost } = scene()
  for (const name of ['a.', 'b.', 'c.']) recent.record(change(name, Answers, Absent))
  recent.settle(change('b.', Absent, Answers))
  assert.deepEqual(lost(), ['a.', 'c.'])
  const copy = recent.fork()
  recent.forget()
  assert.deepEqual([lost(), copy.lossWith(none).all.names.length], [[], 2])
})
