// How long a script that uses up its time is suspended, by a clock that is moved by hand.
import { expect, test } from 'vitest'
import { ScriptPenalties, scriptPause } from '#answer/script/script-penalty.ts'
import { strikesMax } from '#answer/script-mailbox.ts'

function newPenalties() {
  const time = { ms: 0 }
  const penalties = new ScriptPenalties({ nowMs: () => time.ms, monotonicMs: () => time.ms })
  return { penalties, time }
}

test('pauses double up to a minute, and a run in time ends the row', () => {
  const { penalties, time } = newPenalties()
  const strikes = new Int32Array(penalties.carry(['a', 'b']))
  const pauses: number[] = []
  for (let i = 0; i < 9; i++) {
    strikes[0] = strikesMax
    const [sent] = penalties.look()
    expect(sent?.seat).toBe(0)
    pauses.push(sent!.pauseMs)
    time.ms += sent!.pauseMs - 1
    expect([penalties.look(), strikes[0], penalties.size]).toEqual([[], strikesMax, 1])
    time.ms += 1
    // The script gets one more try.
    expect([penalties.look(), strikes[0], penalties.size]).toEqual([[], strikesMax - 1, 0])
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  strikes[0] = 0
  penalties.look()
  strikes[0] = strikesMax
  expect(penalties.look()).toEqual([{ seat: 0, pauseMs: scriptPause.firstMs }])
})

test('a script keeps its place when the bundle changes around it', () => {
  const { penalties } = newPenalties()
  new Int32Array(penalties.carry(['a', 'b']))[0] = strikesMax
  penalties.look()
  const strikes = new Int32Array(penalties.carry(['c', 'a']))
  expect([[...strikes], penalties.look(), penalties.size]).toEqual([[0, strikesMax], [], 1])
  penalties.clear()
  expect(penalties.size).toBe(0)
})
