// A rollout and a window walked through every row of the tables of states, by nodes that share
// nothing but their bundle and the time.
import { describe, expect, test } from 'vitest'
import type { RolloutIntentModel } from '#bundle/format/model.ts'
import { tickMs } from '#server/node/overlay-clock.ts'
import { FakeTime } from '../../../support/fake-time.ts'
import {
  maintenance,
  modelWith,
  noonMs,
  overlayNode,
  rollout,
} from '../../../support/overlay-node.ts'

const at = (seconds: number): number => noonMs + seconds * 1_000
const intents = (...list: readonly [RolloutIntentModel['intent'], number][]) =>
  list.map(([intent, seconds]) => ({ intent, atMs: at(seconds) }))
const ramp = (parts: Parameters<typeof rollout>[0] = {}) =>
  modelWith({ rollouts: [rollout(parts)] })
const watching = (policy: Partial<ReturnType<typeof rollout>['regressionPolicy']>) =>
  ramp({ regressionPolicy: { ...rollout().regressionPolicy, ...policy } })
const declared = '192.0.2.1*40 192.0.2.2*40'

describe('the life of a rollout', () => {
  test('goes from pending to promoted, with a node down in the middle', () => {
    const time = new FakeTime(at(-30))
    const steady = overlayNode(time, modelWith({}))
    const restarted = overlayNode(time, modelWith({}))
    expect(steady.shown()).toBe('none')
    for (const node of [steady, restarted]) node.publish(ramp())
    expect([steady.shown(), steady.rotation()]).toEqual(['pending 0 40', declared])
    time.passTo(at(-0.001))
    expect(steady.shown()).toBe('pending 0 40')
    time.passTo(at(0))
    expect([steady.shown(), steady.rotation()]).toEqual(['running 0 4', '192.0.2.1*4 192.0.2.2*40'])
    expect(restarted.rotation()).toBe(steady.rotation())
    time.passTo(at(30))
    restarted.overlays.stop()
    time.passTo(at(60))
    expect([steady.shown(), steady.rotation()]).toEqual([
      'running 1 20',
      '192.0.2.1*20 192.0.2.2*40',
    ])
    expect(restarted.rotation()).toBe('192.0.2.1*4 192.0.2.2*40')
    time.passTo(at(185))
    const again = overlayNode(time, ramp())
    expect([again.shown(), again.rotation()]).toEqual(['running 2 40', declared])
    expect(again.overlays.status().rollouts).toEqual(steady.overlays.status().rollouts)
    time.passTo(at(210))
    expect([steady.shown(), again.shown()]).toEqual(['promoted 2 40', 'promoted 2 40'])
    time.pass(1_000_000)
    expect(steady.rotation()).toBe(declared)
    const states = steady.logged.filter((message) => message === 'rollout moved on')
    expect(states).toHaveLength(5)
  })

  test('a regression that another node has seen takes it back, here and in later bundles', () => {
    const time = new FakeTime(at(70))
    const node = overlayNode(time, ramp())
    const trip = { rolloutUid: rollout().uid, startAtMs: at(0), atMs: at(69), reason: 'it is ill' }
    node.overlays.adopt({ ...trip, startAtMs: at(-60) })
    node.overlays.adopt({ ...trip, rolloutUid: 'another' })
    expect(node.shown()).toBe('running 1 20')
    node.overlays.adopt(trip)
    expect([node.shown(), node.rotation()]).toEqual(['rolled_back 1 40', declared])
    node.overlays.adopt({ ...trip, atMs: at(1), reason: 'told again' })
    expect(node.overlays.status().rollouts).toMatchObject([{ reason: 'it is ill' }])
    expect(node.overlays.status()).toMatchObject({ regressions: 0, events: [] })
    // Told before there is such a rollout here.
    const late = overlayNode(time, modelWith({}))
    late.overlays.adopt(trip)
    late.publish(ramp())
    expect(late.shown()).toBe('rolled_back 1 40')
    // Another start is another attempt.
    late.publish(ramp({ startAtMs: at(10) }))
    expect(late.shown()).toBe('running 1 20')
  })

  test('a regression takes it back, on the node that sees it', () => {
    const time = new FakeTime(at(0))
    const model = watching({ minHealthScore: 0.5 })
    const ill = overlayNode(time, model)
    const well = overlayNode(time, model)
    time.passTo(at(70))
    ill.measure(0, { score: 0.4 })
    time.pass(1)
    expect([ill.shown(), ill.rotation()]).toEqual(['rolled_back 1 40', '192.0.2.2*40 192.0.2.1*40'])
    expect(well.shown()).toBe('running 1 20')
    const reason = 'the health score of the member is 0.4, below 0.5'
    const name = { uid: rollout().uid, name: 'ramp', tenant: 'default' }
    expect(ill.events).toEqual([{ rollout: name, startAtMs: at(0), reason, atMs: at(70) }])
    expect(ill.overlays.status()).toMatchObject({ regressions: 1, events: ill.events })
    ill.measure(0, { score: 1 })
    time.passTo(at(200))
    expect([ill.shown(), well.shown()]).toEqual(['rolled_back 1 40', 'running 2 40'])
    ill.publish(modelWith({ rollouts: model.rollouts, commit: 'bee' }))
    expect(ill.shown()).toBe('rolled_back 1 40')
    ill.publish(ramp({ intents: intents(['promote', 200]) }))
    expect(ill.shown()).toBe('promoted 2 40')
    expect(ill.events).toHaveLength(1)
  })

  test('a new start is a new attempt', () => {
    const time = new FakeTime(at(0))
    const node = overlayNode(time, watching({ minHealthScore: 0.5 }))
    node.measure(0, { score: 0 })
    time.pass(1)
    expect(node.shown()).toBe('rolled_back 0 40')
    node.measure(0, { score: 1 })
    node.publish(ramp({ startAtMs: at(100) }))
    time.passTo(at(100))
    expect(node.shown()).toBe('running 0 4')
  })

  test('paused it holds its weight, promoted it jumps to the last one', () => {
    const time = new FakeTime(at(70))
    const node = overlayNode(time, ramp())
    node.publish(ramp({ intents: intents(['pause', 70]) }))
    time.passTo(at(10_000))
    expect([node.shown(), node.rotation()]).toEqual(['paused 1 20', '192.0.2.1*20 192.0.2.2*40'])
    node.publish(ramp({ intents: intents(['pause', 70], ['promote', 10_000]) }))
    expect([node.shown(), node.rotation()]).toEqual(['promoted 2 40', declared])
  })

  test('a regression means nothing while it is paused', () => {
    const time = new FakeTime(at(70))
    const { regressionPolicy } = watching({ minHealthScore: 0.5 }).rollouts[0]!
    const node = overlayNode(time, ramp({ intents: intents(['pause', 70]), regressionPolicy }))
    node.measure(0, { score: 0 })
    time.pass(60_000)
    expect([node.shown(), node.events]).toEqual(['paused 1 20', []])
  })

  test.each([
    ['pending', -10],
    ['running', 70],
  ])('aborted while %s it weighs what it weighed before', (_state, seconds) => {
    const time = new FakeTime(at(seconds))
    const node = overlayNode(time, ramp())
    node.publish(ramp({ intents: intents(['abort', seconds]) }))
    expect([node.shown().slice(0, 11), node.rotation()]).toEqual(['rolled_back', declared])
  })

  test.each([
    ['pause while pending', -10, 'pause', 10, 'running 0 4'],
    ['pause when promoted', 300, 'pause', 310, 'promoted 2 40'],
    ['promote when promoted', 300, 'promote', 310, 'promoted 2 40'],
    ['abort when promoted', 300, 'abort', 310, 'promoted 2 40'],
  ] as const)('%s changes nothing', (_name, seconds, intent, later, expected) => {
    const time = new FakeTime(at(seconds))
    const node = overlayNode(time, ramp({ intents: intents([intent, seconds]) }))
    time.passTo(at(later))
    expect(node.shown()).toBe(expected)
  })

  test('at a step of weight 0 the member has no share, and is as ready as before', () => {
    const steps = [
      { weightPct: 0, holdSeconds: 60 },
      { weightPct: 100, holdSeconds: 0 },
    ]
    const time = new FakeTime(at(0))
    const node = overlayNode(time, ramp({ steps }))
    expect(node.rotation()).toBe('192.0.2.1*0 192.0.2.2*40')
    time.passTo(at(1e6))
    expect([node.shown(), node.rotation()]).toEqual(['running 1 40', declared])
  })

  test('without its file the member weighs what the pool says', () => {
    const time = new FakeTime(at(10))
    const node = overlayNode(time, ramp())
    expect(node.rotation()).toBe('192.0.2.1*4 192.0.2.2*40')
    node.publish(modelWith({}))
    expect([node.rotation(), node.overlays.status().rollouts]).toEqual([declared, []])
    time.pass(tickMs)
    expect(time.waiting).toBe(0)
  })
})

describe('regression signals', () => {
  test.each([
    ['a score below the least', { minHealthScore: 0.5 }, { score: 0.49 }, true],
    ['the least score', { minHealthScore: 0.5 }, { score: 0.5 }, false],
    ['a score that nobody asks for', { minHealthScore: 0 }, { score: 0 }, false],
    ['too few healthy members', { minHealthyMembers: 2 }, { healthy: false }, true],
    ['enough healthy members', { minHealthyMembers: 1 }, { healthy: false }, false],
    ['a number that nobody asks for', { minHealthyMembers: 0 }, { healthy: false }, false],
    ['a round trip that is longer by more', { maxRttDeltaMs: 20 }, { rttMs: 31 }, true],
    ['a round trip that is longer by as much', { maxRttDeltaMs: 20 }, { rttMs: 30 }, false],
    ['a round trip that nobody asks for', { maxRttDeltaMs: 0 }, { rttMs: 9_999 }, false],
    ['a round trip that is not measured', { maxRttDeltaMs: 20 }, { rttMs: 0 }, false],
  ])('%s', (_name, policy, measured, isTripped) => {
    const time = new FakeTime(at(0))
    const node = overlayNode(time, watching(policy))
    node.measure(0, { rttMs: 10 })
    time.pass(1)
    node.measure(0, measured)
    time.pass(1)
    expect(node.events.map(({ reason }) => reason)).toHaveLength(isTripped ? 1 : 0)
  })

  test('the baseline of a round trip is the one of the start', () => {
    const time = new FakeTime(at(-10))
    const node = overlayNode(time, watching({ maxRttDeltaMs: 20 }))
    node.measure(0, { rttMs: 100 })
    time.passTo(at(1))
    expect(node.overlays.status().rollouts[0]!.baselineRttMs).toBe(100)
    node.measure(0, { rttMs: 5 })
    node.publish(modelWith({ ...watching({ maxRttDeltaMs: 20 }), commit: 'bee' }))
    node.measure(0, { rttMs: 119 })
    time.pass(tickMs)
    expect([node.shown(), node.events]).toEqual(['running 0 4', []])
  })

  test('a node that probes nobody sees none', () => {
    const time = new FakeTime(at(0))
    const node = overlayNode(time, watching({ minHealthyMembers: 3, minHealthScore: 1 }), false)
    time.pass(60_000)
    expect(node.events).toEqual([])
  })

  test('a storm of verdicts is one look', () => {
    const time = new FakeTime(at(0))
    const node = overlayNode(time, watching({ minHealthyMembers: 2 }))
    for (let i = 0; i < 100; i++) node.measure(i % 2, { healthy: i % 3 === 0 })
    expect(time.waiting).toBe(1)
    time.pass(1)
    expect(node.events).toHaveLength(1)
  })
})

describe('the life of a window', () => {
  const planned = modelWith({ windows: [maintenance()] })

  test('logs its begin and its end once each', () => {
    const time = new FakeTime(at(-30))
    const node = overlayNode(time, planned)
    const said = () => node.logged.filter((message) => message.startsWith('maintenance window'))
    const { startAtMs, endAtMs } = maintenance()
    time.passTo(startAtMs - 1)
    expect(said()).toEqual([])
    time.passTo(startAtMs)
    time.passTo(endAtMs - 1)
    expect(said()).toEqual(['maintenance window begins'])
    node.publish(planned)
    time.passTo(endAtMs + 1)
    node.publish(planned)
    expect(said()).toEqual(['maintenance window begins', 'maintenance window ends'])
  })
  const [stateOf, rotation] = [
    (node: ReturnType<typeof overlayNode>) => node.overlays.status().windows[0]?.state,
    (node: ReturnType<typeof overlayNode>) => node.rotation(),
  ]

  test('goes from scheduled to completed, with a node down in the middle', () => {
    const time = new FakeTime(at(-30))
    const [steady, down] = [overlayNode(time, planned), overlayNode(time, planned)]
    expect([stateOf(steady), rotation(steady)]).toEqual(['scheduled', declared])
    down.overlays.stop()
    time.passTo(at(0))
    expect([stateOf(steady), rotation(steady)]).toEqual(['active', '192.0.2.2*40'])
    time.passTo(at(1_800))
    const late = overlayNode(time, planned)
    expect([stateOf(late), rotation(late)]).toEqual(['active', '192.0.2.2*40'])
    time.passTo(at(3_600))
    for (const node of [steady, late]) {
      expect([stateOf(node), rotation(node)]).toEqual(['completed', declared])
    }
  })

  test('a member that is disabled by hand stays disabled', () => {
    const time = new FakeTime(at(0))
    const windows = [maintenance({ member: -1 })]
    const node = overlayNode(time, modelWith({ windows }, { second: { enabled: false } }))
    expect(rotation(node)).toBe('')
    time.passTo(at(3_600))
    expect(rotation(node)).toBe('192.0.2.1*40')
  })

  test('scheduled, it is removed without a trace', () => {
    const time = new FakeTime(at(-30))
    const node = overlayNode(time, planned)
    node.publish(modelWith({}))
    time.passTo(at(10))
    expect([stateOf(node), rotation(node)]).toEqual([undefined, declared])
  })

  test('active, it is removed by a commit that disables its members, which then stay so', () => {
    const time = new FakeTime(at(10))
    const node = overlayNode(time, planned)
    node.publish(modelWith({}, { first: { enabled: false } }))
    time.passTo(at(4_000))
    expect([stateOf(node), rotation(node)]).toEqual([undefined, '192.0.2.2*40'])
  })

  test('two that overlap hold until the later one has ended', () => {
    const windows = [
      maintenance(),
      maintenance({ uid: rollout().uid, startAtMs: at(600), endAtMs: at(7_200), member: -1 }),
    ]
    const time = new FakeTime(at(0))
    const node = overlayNode(time, modelWith({ windows }))
    const seen: string[] = []
    for (const seconds of [0, 600, 3_600, 7_200]) {
      time.passTo(at(seconds))
      seen.push(rotation(node))
    }
    expect(seen).toEqual(['192.0.2.2*40', '', '', declared])
  })
})

describe('clocks that jump', () => {
  const model = modelWith({ rollouts: [rollout({ member: 1 })], windows: [maintenance()] })

  test.each([
    ['into the window', -3_600_000, 3_600_000],
    ['beyond it', -3_600_000, 10_000_000],
    ['back to before it', 60_000, -120_000],
    ['far back', 10_000_000, -1e11],
  ])('%s: what holds is there after one tick', (_name, startMs, jumpMs) => {
    const time = new FakeTime(noonMs + startMs)
    const node = overlayNode(time, model)
    time.pass(1_000)
    time.jump(jumpMs)
    time.pass(tickMs)
    const fresh = overlayNode(time, model)
    expect(node.rotation()).toBe(fresh.rotation())
    expect(node.overlays.status().windows).toEqual(fresh.overlays.status().windows)
  })

  test('a wall clock that was put back does not undo a regression', () => {
    const time = new FakeTime(at(70))
    const node = overlayNode(time, watching({ minHealthScore: 0.5 }))
    node.measure(0, { score: 0 })
    time.pass(1)
    time.jump(-30_000)
    time.pass(tickMs)
    expect(node.shown()).toBe('rolled_back 1 40')
  })
})
