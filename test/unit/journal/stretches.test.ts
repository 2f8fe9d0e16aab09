// A member on a line of time: exact where it seldom changed, and bounded where it often did.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { StretchLine, stretchesMax } from '#journal/stretches.ts'

const range = { fromMs: 1_000, toMs: 101_000 }
const brief = (line: StretchLine) =>
  line.stretches().map(({ fromMs, toMs, standing, changes }) => [fromMs, toMs, standing, changes])

test('the last value before the range begins it, and a repeated value counts once', () => {
  const line = new StretchLine(range)
  line.turn(10, 'up')
  line.turn(500, 'down')
  line.turn(2_000, 'down')
  line.turn(3_000, 'up')
  line.turn(200_000, 'down')
  expect(brief(line)).toEqual([
    [1_000, 3_000, 'down', 0],
    [3_000, 101_000, 'up', 0],
  ])
})

test('a clock that was set back takes back what was said of later times', () => {
  const line = new StretchLine(range)
  line.turn(1_000, 'up')
  line.turn(50_000, 'down')
  line.turn(60_000, 'up')
  line.turn(20_000, 'maintenance')
  expect(brief(line)).toEqual([
    [1_000, 20_000, 'up', 0],
    [20_000, 101_000, 'maintenance', 0],
  ])
})

test('a storm of changes is one stretch that counts them; what was calm stays exact', () => {
  const line = new StretchLine(range)
  line.turn(1_000, 'up')
  for (let i = 0; i < 2_000; i++) line.turn(40_000 + i, i % 2 === 0 ? 'down' : 'up')
  line.turn(90_000, 'down')
  const [calm, ...rest] = line.stretches()
  expect(calm).toMatchObject({ fromMs: 1_000, toMs: 40_000, standing: 'up', changes: 0 })
  expect(rest.at(-1)).toMatchObject({ fromMs: 90_000, toMs: 101_000, standing: 'down' })
  expect(rest.some(({ changes, standing }) => changes > 100 && standing === 'down')).toBe(true)
  expect(rest.length).toBeLessThan(stretchesMax)
})

test('stretches fill the range and are few, whatever the order of values', () => {
  const turns = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 110_000 }), fc.constantFrom('up', 'down', 'unknown')),
    { maxLength: 3_000 },
  )
  fc.assert(
    fc.property(turns, fc.boolean(), (all, isInOrder) => {
      const line = new StretchLine(range)
      const said = isInOrder ? all.toSorted(([a], [b]) => a - b) : all
      for (const [atMs, standing] of said) line.turn(atMs, standing)
      const found = line.stretches()
      expect(found.length).toBeLessThanOrEqual(stretchesMax)
      let atMs = range.fromMs
      for (const { fromMs, toMs } of found) {
        expect(fromMs).toBe(atMs)
        expect(toMs).toBeGreaterThan(fromMs)
        atMs = toMs
      }
      expect(atMs).toBe(range.toMs)
    }),
  )
})
