import { expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { Schedule, scheduled } from '#health/thread/schedule.ts'
import type { Scheduled } from '#health/thread/schedule.ts'

interface Named extends Scheduled {
  readonly name: string
}

function named(name: string, intervalMs: number): Named {
  return { ...scheduled(name, intervalMs), name }
}

/** Starts every probe when it is due, in whole milliseconds. @returns start times by name */
function run(schedule: Schedule<Named>, fromMs: number, untilMs: number): Map<string, number[]> {
  const starts = new Map<string, number[]>()
  while (schedule.nextDueMs < untilMs) {
    const nowMs = Math.max(fromMs, schedule.nextDueMs)
    for (let item = schedule.takeDue(nowMs); item !== undefined; item = schedule.takeDue(nowMs)) {
      starts.set(item.name, [...(starts.get(item.name) ?? []), nowMs])
      schedule.add(item, nowMs)
    }
  }
  return starts
}

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - times[i]!)
}

test('a day of probes: each follows the last by 90 to 100 % of the interval', () => {
  const schedule = new Schedule<Named>(new Random(1))
  schedule.add(named('m1', 10_000), 5_000_000)
  const starts = run(schedule, 5_000_000, 5_000_000 + 86_400_000).get('m1')!
  expect(starts[0]! - 5_000_000).toBeLessThanOrEqual(10_000)
  const gaps = gapsOf(starts)
  expect(gaps.length).toBeGreaterThan(9_000)
  expect(Math.min(...gaps)).toBeGreaterThan(8_999.99)
  expect(Math.max(...gaps)).toBeLessThan(10_000.01)
  // The jitter is used: not two gaps in a hundred are alike.
  expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(500)
})

test('10,000 targets are spread evenly over the interval from the first one on', () => {
  const schedule = new Schedule<Named>(new Random(2))
  for (let i = 0; i < 10_000; i++) schedule.add(named(`0197-${i} 192.0.2.1`, 10_000), 0)
  const perSecond = new Array<number>(30).fill(0)
  for (const times of run(schedule, 0, 30_000).values()) {
    for (const time of times) perSecond[Math.floor(time / 1_000)]!++
  }
  // 10,000 per 9.5 s is 1,053 a second; the first second misses those whose jitter came before 0.
  for (const count of perSecond.slice(1)) {
    expect(count).toBeGreaterThan(900)
    expect(count).toBeLessThan(1_200)
  }
})

test('a target keeps its place in the interval over a restart', () => {
  const [a, b, c] = [scheduled('m1', 10_000), scheduled('m1', 10_000), scheduled('m2', 10_000)]
  expect(a.phaseMs).toBe(b.phaseMs)
  expect(a.phaseMs).not.toBe(c.phaseMs)
})

test('after a stall of hours each target is due once, then in its own place again', () => {
  const schedule = new Schedule<Named>(new Random(3))
  for (let i = 0; i < 1_000; i++) schedule.add(named(`m${i}`, 10_000), 0)
  const wokeMs = 4 * 3_600_000
  const starts = run(schedule, wokeMs, wokeMs + 40_000)
  const after = [...starts.values()].flatMap((times) => times.slice(1))
  expect(starts.size).toBe(1_000)
  for (const times of starts.values()) {
    expect(times[0]).toBe(wokeMs)
    expect(Math.max(...gapsOf(times))).toBeLessThan(10_000.01)
    expect(Math.min(...gapsOf(times.slice(1)))).toBeGreaterThan(8_999.99)
  }
  const inOneSecond = after.filter((time) => Math.floor((time - wokeMs) / 1_000) === 5)
  expect(inOneSecond.length).toBeLessThan(160)
})

test('a probe that outlasts its interval is followed at once, never overlapped', () => {
  const schedule = new Schedule<Named>(new Random(4))
  schedule.add(named('m1', 1_000), 0)
  const startedMs = schedule.nextDueMs
  const item = schedule.takeDue(startedMs)!
  expect(schedule.nextDueMs).toBe(Infinity)
  schedule.add(item, startedMs)
  expect(schedule.nextDueMs).toBeLessThan(startedMs + 2_500)
})

test('a removed target is not due', () => {
  const schedule = new Schedule<Named>(new Random(5))
  const [m1, m2] = [named('m1', 1_000), named('m2', 1_000)]
  schedule.add(m1, 0)
  schedule.add(m2, 0)
  schedule.remove(m1)
  expect([...run(schedule, 0, 60_000).keys()]).toEqual(['m2'])
})
