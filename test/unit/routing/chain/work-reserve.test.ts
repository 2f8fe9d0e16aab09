// Tests the work that queries may draw for a scope, and its refill.
import { expect, test } from 'vitest'
import { WorkReserve, drawMax, filledPerMs, reserveMax } from '#routing/chain/work-reserve.ts'

let nowMs = 0
const drawsOf = (reserve: WorkReserve): number => {
  let draws = 0
  while (reserve.draw()) draws++
  return draws
}

test('a full reserve is drawn down to nothing and fills as time goes on', () => {
  const reserve = new WorkReserve(() => nowMs)
  expect(drawsOf(reserve)).toBe(reserveMax / drawMax)
  nowMs += Math.floor(drawMax / filledPerMs)
  expect(drawsOf(reserve)).toBe(0)
  nowMs += 1
  expect(drawsOf(reserve)).toBe(1)
  nowMs += 1e9
  expect(drawsOf(reserve)).toBe(reserveMax / drawMax)
})

test('units given back can be drawn again, up to the size of the reserve', () => {
  const reserve = new WorkReserve(() => nowMs)
  drawsOf(reserve)
  reserve.giveBack(drawMax)
  expect(drawsOf(reserve)).toBe(1)
  reserve.giveBack(reserveMax * 2)
  expect(drawsOf(reserve)).toBe(reserveMax / drawMax)
})

test('a clock that stands still or goes back fills nothing', () => {
  const reserve = new WorkReserve(() => nowMs)
  drawsOf(reserve)
  nowMs -= 1_000
  expect(drawsOf(reserve)).toBe(0)
})
