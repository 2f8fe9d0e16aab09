import { describe, expect, test } from 'vitest'
import { MemberTrack } from '#health/verdict/member-track.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { targetKey } from '#health/probes/probe.ts'
import { RttAverage } from '#health/verdict/rtt-average.ts'
import { ScoreWindow } from '#health/verdict/score-window.ts'
import { healthCheck, probeTarget } from './check.ts'
import { Simulation } from './simulation.ts'

/** `+` passes, `-` fails, `?` is a probe that this node could not make. */
const outcomeOf: Readonly<Record<string, Outcome>> = {
  '+': 'success',
  '-': 'failure',
  t: 'timeout',
  '?': 'local-error',
}

function walk(track: MemberTrack, results: string, check = healthCheck(), warmupThreshold = 0) {
  const rule = { check, warmupThreshold, rttThresholdMs: 0 }
  return [...results].map((letter, i) => {
    const outcome = outcomeOf[letter]!
    const change = track.take({ outcome, rttMs: 10, reason: '' }, rule, i * check.intervalMs)
    return { change, healthy: track.verdict.healthy, score: track.score, ...track.warmup }
  })
}

describe('the score of the last N probes', () => {
  const rows: readonly [size: number, results: string, scores: readonly number[]][] = [
    [1, '+-+', [1, 0, 1]],
    [4, '+++++', [1, 1, 1, 1, 1]],
    [4, '++--', [1, 1, 2 / 3, 0.5]],
    [4, '++-----', [1, 1, 2 / 3, 0.5, 0.25, 0, 0]],
    [4, '----+', [0, 0, 0, 0, 0.25]],
    [2, '+-+-', [1, 0.5, 0.5, 0.5]],
  ]
  test.each(rows)('N = %i, %s', (size, results, scores) => {
    const window = new ScoreWindow(size)
    expect([...results].map((letter) => window.add(letter === '+'))).toEqual(scores)
  })

  test('counts right over words of bits, against a list', () => {
    const window = new ScoreWindow(1_000)
    const last: number[] = []
    for (let i = 0; i < 5_000; i++) {
      const success = (i * 2_654_435_761) % 7 < 4
      last.push(success ? 1 : 0)
      if (last.length > 1_000) last.shift()
      expect(window.add(success)).toBe(last.reduce((a, b) => a + b) / last.length)
    }
  })

  const healthRows: readonly [string, healthy: string][] = [
    ['-', 'U'],
    ['+--', 'HHH'],
    ['+---', 'HHHU'],
    ['+---+', 'HHHUH'],
    ['?', 'H'],
  ]
  test.each(healthRows)('keeps a member healthy while it is above 0: %s', (results, healthy) => {
    // Rise and fall do not matter with a score.
    const check = healthCheck({ scoreWindow: 3, riseCount: 9, fallCount: 9 })
    const track = new MemberTrack(check, { healthy: true, isWarming: false })
    const seen = walk(track, results, check).map((step) => (step.healthy ? 'H' : 'U'))
    expect(seen.join('')).toBe(healthy)
  })

  test('is 1 while scoring is off, and 0 for a member that was unhealthy before', () => {
    const track = new MemberTrack(healthCheck(), { healthy: false, isWarming: false })
    expect(walk(track, '-+-').map(({ score }) => score)).toEqual([1, 1, 1])
    const scored = healthCheck({ scoreWindow: 3 })
    expect(new MemberTrack(scored, { healthy: false, isWarming: false }).score).toBe(0)
  })
})

describe('the round trip time', () => {
  const rows: readonly [samples: readonly number[], thresholdMs: number, number[]][] = [
    [[10, 20], 0, [0, 0]],
    [[10, 20, 30], 0, [0, 0, 20]],
    [[10, 10, 10, 10, 10, 60], 0, [0, 0, 10, 10, 10, 20]],
    // A probe that measured nothing (webhook) is not counted.
    [[10, 0, 10, 0, 10], 0, [0, 0, 0, 0, 10]],
    // The mean moves by 2: kept; then by 5 in all: told.
    [[10, 10, 10, 10, 10, 20, 25], 5, [0, 0, 10, 10, 10, 10, 15]],
    [[1, 1, 1, 3, 3, 3], 5, [0, 0, 1, 1, 1, 1]],
  ]
  test.each(rows)('over %j with a threshold of %i ms', (samples, thresholdMs, published) => {
    const rtt = new RttAverage()
    const seen = samples.map((sample) => {
      const before = rtt.publishedMs
      expect(rtt.add(sample, thresholdMs)).toBe(before !== rtt.publishedMs)
      return rtt.publishedMs
    })
    expect(seen).toEqual(published)
  })

  test('is measured by probes that pass only', () => {
    const track = new MemberTrack(healthCheck(), { healthy: true, isWarming: false })
    walk(track, '++---tt')
    expect(track.rttMs).toBe(0)
    walk(track, '+')
    expect(track.rttMs).toBe(10)
  })
})

describe('the warm-up gate', () => {
  const rows: readonly [threshold: number, results: string, passes: string, warming: string][] = [
    [1, '+', '1', '-'],
    [3, '+++', '123', 'ww-'],
    [3, '++-+++', '120123', 'wwwww-'],
    [3, '++t+++', '120123', 'wwwww-'],
    // A probe that this node could not make says nothing of the member.
    [2, '+?+', '112', 'ww-'],
    [2, '++--', '1222', 'w---'],
  ]
  test.each(rows)('at %i passes: %s', (threshold, results, passes, warming) => {
    const track = new MemberTrack(healthCheck(), { healthy: true, isWarming: true })
    const steps = walk(track, results, healthCheck(), threshold)
    expect(steps.map((step) => step.passes).join('')).toBe(passes)
    expect(steps.map((step) => (step.isWarming ? 'w' : '-')).join('')).toBe(warming)
    expect(steps.filter(({ change }) => change.gate).length).toBe(1)
  })

  test('counts raw results, whatever rise, fall and score make of them', () => {
    const check = healthCheck({ fallCount: 5, riseCount: 5 })
    const track = new MemberTrack(check, { healthy: true, isWarming: true })
    const steps = walk(track, '++-', check, 3)
    expect(steps.map(({ healthy, passes }) => [healthy, passes])).toEqual([
      [true, 1],
      [true, 2],
      [true, 0],
    ])
  })
})

describe('the knowledge of this node', () => {
  const rows: readonly [results: string, knowledge: string][] = [
    ['', 'unknown'],
    ['?', 'unknown'],
    ['+', 'known'],
    ['+???', 'known'],
    ['+????', 'stale'],
    ['+????-', 'known'],
  ]
  test.each(rows)('after "%s" is %s', (results, knowledge) => {
    const track = new MemberTrack(healthCheck(), { healthy: true, isWarming: false })
    walk(track, results)
    expect(track.knowledge).toBe(knowledge)
  })
})

describe('the prober', () => {
  test('tells scores and times once a second at most, however many change', () => {
    const world = new Simulation(1)
    world.rttThresholdMs = 0
    const many = Array.from({ length: 500 }, (_, i) =>
      probeTarget(`m${i}`, { intervalMs: 1_000, scoreWindow: 20 }),
    )
    let probes = 0
    world.answer = () => {
      probes++
      const isGood = probes % 3 !== 0
      return { outcome: isGood ? 'success' : 'failure', afterMs: 1 + (probes % 50) }
    }
    world.setTargets(many)
    world.walk(20_000)
    const quiet = world.messages.length
    world.walk(60_000)
    expect(world.changes.filter(({ healthy }) => healthy).length).toBeLessThan(500)
    expect(world.messages.length - quiet).toBeLessThanOrEqual(62)
    for (const { measures } of world.messages) {
      const keys = measures.map((one) => targetKey(one.memberUid, one.ipAddress))
      expect(new Set(keys).size).toBe(keys.length)
    }
    const last = new Map(world.measures.map((one) => [one.memberUid, one]))
    expect(last.size).toBe(500)
    for (const { score, rttMs, knowledge } of last.values()) {
      expect([score > 0.2 && score < 1, rttMs > 1 && rttMs < 51, knowledge]).toEqual([
        true,
        true,
        'known',
      ])
    }
  })

  test('tells nothing more of a member that stays as it is', () => {
    const world = new Simulation(1)
    world.setTargets([probeTarget('m1', { intervalMs: 1_000, scoreWindow: 5 })])
    world.walk(10_000)
    const told = world.measures.length
    world.walk(600_000)
    expect(told).toBeLessThanOrEqual(2)
    expect(world.measures.length).toBe(told)
  })

  test('opens the gate at once, and keeps its counter over a new set', () => {
    const world = new Simulation(1)
    const target = probeTarget('m1', { intervalMs: 10_000 }, '192.0.2.1', 3)
    world.setTargets([target], [], [targetKey('m1', '192.0.2.1')])
    while (world.started.length < 2) world.walk(1)
    world.walk(1_500)
    expect(world.measures.at(-1)).toMatchObject({ isWarming: true, warmupPasses: 2 })
    world.setTargets([{ ...target, pool: 'renamed' }, probeTarget('m2')])
    while (world.started.filter(({ memberUid }) => memberUid === 'm1').length < 3) world.walk(1)
    world.walk(25)
    expect(world.measures.findLast(({ memberUid }) => memberUid === 'm1')).toMatchObject({
      isWarming: false,
      warmupPasses: 3,
    })
  })

  const edits: readonly [string, threshold: number, intervalMs: number, warming: string][] = [
    ['a lower one opens it with the next pass', 1, 10_000, 'w-'],
    ['a replaced check starts the count anew', 3, 9_000, 'www-'],
  ]
  test.each(edits)('while a member warms up, %s', (_title, threshold, intervalMs, warming) => {
    const world = new Simulation(1)
    const key = targetKey('m1', '192.0.2.1')
    world.setTargets([probeTarget('m1', { intervalMs: 10_000 }, '192.0.2.1', 3)], [], [key])
    while (world.started.length < 2) world.walk(1)
    world.walk(1_500)
    const before = world.messages.length
    world.setTargets([probeTarget('m1', { intervalMs }, '192.0.2.1', threshold)], [], [key])
    const states = ['w']
    for (let i = 0; i < 3 && states.length < warming.length; i++) {
      const count = world.started.length
      while (world.started.length === count) world.walk(1)
      world.walk(1_500)
      const told = world.messages.slice(before).flatMap(({ measures }) => measures)
      states.push((told.at(-1)?.isWarming ?? true) ? 'w' : '-')
    }
    expect(states.join('')).toBe(warming)
  })
})
