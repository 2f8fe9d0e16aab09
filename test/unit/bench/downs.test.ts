// Until when the losses of a node that was killed are of the kill.
import { expect, test } from 'vitest'
import { Downs } from '#bench/chaos/downs.ts'

const seconds = (count: number): number => count * 1_000
const second = (killedMs: number, lost: number) => ({ name: 'a', killedMs, lost })

/** Asks each second from the first to the last. */
const seen = (
  downs: Downs,
  killed: number,
  from: number,
  to: number,
  lost: (at: number) => number,
) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((at) =>
    downs.isDown(second(seconds(killed), lost(at)), seconds(at)),
  )

test('until it answers all again for a second; what it loses then is its own', () => {
  const downs = new Downs()
  downs.begin(0)
  const lost = (at: number): number => (at === 10 ? 0 : 5)
  expect(seen(downs, 1, 1, 20, lost)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('for a minute at most, where it loses a little each second', () => {
  const downs = new Downs()
  downs.begin(0)
  const down = seen(downs, 1, 1, 200, () => 1)
  expect(down.at(-1)).toBe(61)
  // Killed once more, it is down once more.
  expect(downs.isDown(second(seconds(201), 1), seconds(202))).toBe(true)
})

test('not in the next fault, unless it is killed there', () => {
  const downs = new Downs()
  downs.begin(0)
  expect(downs.isDown(second(seconds(1), 1), seconds(2))).toBe(true)
  downs.begin(seconds(5))
  expect(downs.isDown(second(seconds(1), 1), seconds(6))).toBe(false)
  expect(downs.isDown(second(seconds(7), 1), seconds(8))).toBe(true)
})

test('a node that was never killed is never down', () => {
  const downs = new Downs()
  expect(downs.isDown(second(-Infinity, 1), seconds(1))).toBe(false)
  downs.begin(0)
  expect(downs.isDown(second(-Infinity, 1), seconds(1))).toBe(false)
})
