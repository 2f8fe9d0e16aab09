// The bench: how long a script that uses up its time has to wait, by a clock that is moved by hand.
import { expect, test } from 'vitest'
import { Bench, benchPause } from '#runtime/script/script-penalty.ts'
import { strikesMax } from '#runtime/answer/script-mailbox.ts'

function newBench() {
  const time = { ms: 0 }
  const bench = new Bench({ nowMs: () => time.ms, monotonicMs: () => time.ms })
  return { bench, time }
}

test('pauses double up to a minute, and a run in time ends the row', () => {
  const { bench, time } = newBench()
  const strikes = new Int32Array(bench.carry(['a', 'b']))
  const pauses: number[] = []
  for (let i = 0; i < 9; i++) {
    strikes[0] = strikesMax
    const [sent] = bench.look()
    expect(sent?.seat).toBe(0)
    pauses.push(sent!.pauseMs)
    time.ms += sent!.pauseMs - 1
    expect([bench.look(), strikes[0], bench.size]).toEqual([[], strikesMax, 1])
    time.ms += 1
    // One more try.
    expect([bench.look(), strikes[0], bench.size]).toEqual([[], strikesMax - 1, 0])
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  strikes[0] = 0
  bench.look()
  strikes[0] = strikesMax
  expect(bench.look()).toEqual([{ seat: 0, pauseMs: benchPause.firstMs }])
})

test('a script keeps its place when the bundle changes around it', () => {
  const { bench } = newBench()
  new Int32Array(bench.carry(['a', 'b']))[0] = strikesMax
  bench.look()
  const strikes = new Int32Array(bench.carry(['c', 'a']))
  expect([[...strikes], bench.look(), bench.size]).toEqual([[0, strikesMax], [], 1])
  bench.clear()
  expect(bench.size).toBe(0)
})
