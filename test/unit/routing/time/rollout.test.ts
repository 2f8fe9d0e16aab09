// Where a rollout and a window are at an instant: each row of the tables of states, by the clock.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RolloutIntentModel, RolloutStepModel } from '#bundle/format/model.ts'
import { windowAt } from '#routing/time/overlay.ts'
import { rolloutAt, rolloutTimeline, stepWeight } from '#routing/time/rollout.ts'
import type { RolloutSchedule } from '#routing/time/rollout.ts'

const startAtMs = 1_000_000
const steps: readonly RolloutStepModel[] = [
  { weightPct: 10, holdSeconds: 60 },
  { weightPct: 50, holdSeconds: 120 },
  { weightPct: 100, holdSeconds: 30 },
]
const plain: RolloutSchedule = { baseWeight: 40, startAtMs, steps, intents: [] }
const at = (seconds: number): number => startAtMs + seconds * 1_000
const decided = (
  ...intents: readonly [RolloutIntentModel['intent'], number][]
): RolloutSchedule => ({
  ...plain,
  intents: intents.map(([intent, seconds]) => ({ intent, atMs: at(seconds) })),
})

/** State, step, weight and the next event in seconds after the start. */
function shown(rollout: RolloutSchedule, seconds: number, tripSeconds?: number): string {
  const trip = tripSeconds === undefined ? null : { atMs: at(tripSeconds), reason: 'it is ill' }
  const { state, stepIndex, weight, nextEventAtMs } = rolloutAt(rollout, at(seconds), trip)
  const next = nextEventAtMs === Infinity ? 'never' : (nextEventAtMs - startAtMs) / 1_000
  return `${state} ${stepIndex} ${weight} ${next}`
}

describe('the table of rollouts', () => {
  const held = { ...plain, steps: [...steps.slice(0, 2), { weightPct: 100, holdSeconds: 0 }] }
  test.each([
    ['waits for its start', plain, -1, 'pending 0 null 0'],
    ['begins with its first step', plain, 0, 'running 0 4 60'],
    ['stays in a step until it has ended', plain, 59.999, 'running 0 4 60'],
    ['moves to the step that elapsed time dictates', plain, 60, 'running 1 20 180'],
    ['catches up in one sweep', plain, 195, 'running 2 40 210'],
    ['promotes itself when all steps are finished', plain, 210, 'promoted 2 40 never'],
    ['stays at the final weight for ever', plain, 1e9, 'promoted 2 40 never'],
    ['holds a step of 0 seconds', held, 1e9, 'running 2 40 never'],
    ['is held by a pause', decided(['pause', 70]), 70, 'paused 1 20 never'],
    ['does not advance while paused', decided(['pause', 70]), 1e6, 'paused 1 20 never'],
    ['jumps to the final weight', decided(['promote', 5]), 5, 'promoted 2 40 never'],
    ['is promoted from pause', decided(['pause', 5], ['promote', 9]), 9, 'promoted 2 40 never'],
    ['is aborted while pending', decided(['abort', -5]), -5, 'rolled_back 0 40 never'],
    ['is aborted while running', decided(['abort', 70]), 70, 'rolled_back 1 40 never'],
    ['is aborted from pause', decided(['pause', 70], ['abort', 90]), 90, 'rolled_back 1 40 never'],
    ['knows what will be decided', decided(['abort', 30]), 0, 'running 0 4 30'],
    ['waits for a decision in pause', decided(['pause', 5], ['abort', 30]), 6, 'paused 0 4 30'],
    ['cannot be paused while pending', decided(['pause', -5]), 1, 'running 0 4 60'],
    ['cannot be promoted while pending', decided(['promote', -5]), 1, 'running 0 4 60'],
    ['cannot be paused twice', decided(['pause', 5], ['pause', 70]), 80, 'paused 0 4 never'],
    ['cannot be paused when over', decided(['pause', 300]), 301, 'promoted 2 40 never'],
    ['cannot be aborted when over', decided(['abort', 300]), 301, 'promoted 2 40 never'],
    [
      'cannot be aborted when promoted',
      decided(['promote', 5], ['abort', 6]),
      7,
      'promoted 2 40 never',
    ],
    [
      'cannot be promoted when aborted',
      decided(['abort', 5], ['promote', 6]),
      7,
      'rolled_back 0 40 never',
    ],
  ] as const)('a rollout %s', (_name, rollout, seconds, expected) => {
    expect(shown(rollout, seconds)).toBe(expected)
  })

  test.each([
    ['restores the weight', plain, 75, 70, 'rolled_back 1 40 never'],
    ['is sticky', plain, 1e6, 70, 'rolled_back 1 40 never'],
    ['is not undone by a clock that was put back', plain, 65, 70, 'rolled_back 1 40 never'],
    ['means nothing while paused', decided(['pause', 5]), 80, 70, 'paused 0 4 never'],
    ['means nothing before the start', plain, 1, -5, 'running 0 4 60'],
    ['means nothing after the end', plain, 400, 300, 'promoted 2 40 never'],
    ['is overruled by a later promotion', decided(['promote', 90]), 95, 70, 'promoted 2 40 never'],
    ['waits for a decision', decided(['promote', 90]), 80, 70, 'rolled_back 1 40 90'],
    ['is not overruled by a later pause', decided(['pause', 90]), 95, 70, 'rolled_back 1 40 never'],
    ['is confirmed by an abortion', decided(['abort', 90]), 95, 70, 'rolled_back 1 40 never'],
    ['gives way to an earlier promotion', decided(['promote', 60]), 95, 70, 'promoted 2 40 never'],
  ] as const)('a regression %s', (_name, rollout, seconds, trip, expected) => {
    expect(shown(rollout, seconds, trip)).toBe(expected)
  })

  test('every end says why', () => {
    const trip = { atMs: at(1), reason: 'it is ill' }
    expect([
      rolloutAt(plain, at(0)).reason,
      rolloutAt(plain, at(999)).reason,
      rolloutAt(plain, at(2), trip).reason,
      rolloutAt(decided(['pause', 1]), at(2)).reason,
      rolloutAt(decided(['promote', 1]), at(2)).reason,
      rolloutAt(decided(['abort', 1]), at(2)).reason,
    ]).toEqual(['', 'every step has ended', 'it is ill', 'paused', 'promoted', 'aborted'])
  })
})

test.each([
  [40, 10, 4],
  [1, 10, 1],
  [1, 0, 0],
  [0, 50, 0],
  [3, 50, 2],
  [1_000_000, 100, 1_000_000],
])('a step of weight %i at %i percent weighs %i', (baseWeight, weightPct, expected) => {
  expect(stepWeight(baseWeight, { weightPct, holdSeconds: 1 })).toBe(expected)
})

test('a timeline lists each change once, in order', () => {
  const { intents } = decided(['pause', 70], ['promote', 500])
  const timeline = rolloutTimeline({ ...plain, intents })
  expect(timeline.map(({ atMs, moment }) => [(atMs - startAtMs) / 1_000, moment.state])).toEqual([
    [0, 'running'],
    [60, 'running'],
    [70, 'paused'],
    [500, 'promoted'],
  ])
})

test.each([
  [99, 'scheduled', 100],
  [100, 'active', 200],
  [199, 'active', 200],
  [200, 'completed', Infinity],
])('a window from 100 to 200 is at %i %s', (nowMs, state, nextEventAtMs) => {
  expect(windowAt({ startAtMs: 100, endAtMs: 200 }, nowMs)).toEqual({ state, nextEventAtMs })
})

const arbitraryRollout: fc.Arbitrary<RolloutSchedule> = fc.record({
  baseWeight: fc.integer({ min: 0, max: 1_000_000 }),
  startAtMs: fc.constant(startAtMs),
  steps: fc.array(
    fc.record({
      weightPct: fc.integer({ min: 0, max: 100 }),
      holdSeconds: fc.integer({ min: 0, max: 40 }),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  intents: fc
    .array(
      fc.record({
        intent: fc.constantFrom('pause' as const, 'promote' as const, 'abort' as const),
        atMs: fc.integer({ min: startAtMs - 50_000, max: startAtMs + 300_000 }),
      }),
      { maxLength: 5 },
    )
    .map((intents) => intents.toSorted((a, b) => a.atMs - b.atMs)),
})
const arbitraryTime = fc.integer({ min: startAtMs - 60_000, max: startAtMs + 400_000 })
const order = ['pending', 'running', 'paused', 'promoted', 'rolled_back']

describe('any rollout', () => {
  test('goes forward only, and what is over stays as it is', () => {
    fc.assert(
      fc.property(arbitraryRollout, arbitraryTime, arbitraryTime, (rollout, one, other) => {
        const before = rolloutAt(rollout, Math.min(one, other))
        const after = rolloutAt(rollout, Math.max(one, other))
        expect(after.stepIndex).toBeGreaterThanOrEqual(before.stepIndex)
        expect(order.indexOf(after.state)).toBeGreaterThanOrEqual(order.indexOf(before.state))
        const isOver = before.state === 'promoted' || before.state === 'rolled_back'
        if (isOver) expect(after).toEqual(before)
      }),
    )
  })

  test('is what it was until the next event that it has announced', () => {
    fc.assert(
      fc.property(arbitraryRollout, arbitraryTime, (rollout, nowMs) => {
        const moment = rolloutAt(rollout, nowMs)
        expect(moment.nextEventAtMs).toBeGreaterThan(nowMs)
        const lastMs = Math.min(moment.nextEventAtMs - 1, nowMs + 1e9)
        expect(rolloutAt(rollout, lastMs)).toEqual(moment)
      }),
    )
  })

  test('weighs what one of its steps says, or what it weighed before', () => {
    fc.assert(
      fc.property(arbitraryRollout, arbitraryTime, (rollout, nowMs) => {
        const { weight, state } = rolloutAt(rollout, nowMs)
        const weights = rollout.steps.map((step) => stepWeight(rollout.baseWeight, step))
        if (state === 'pending') expect(weight).toBeNull()
        else if (state === 'rolled_back') expect(weight).toBe(rollout.baseWeight)
        else if (state === 'promoted') expect(weight).toBe(weights.at(-1))
        else expect(weights).toContain(weight)
      }),
    )
  })
})
