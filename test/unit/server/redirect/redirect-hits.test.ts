// Hits of redirects: carried by uid, none lost while two tables are in use.
import { expect, test } from 'vitest'
import { RedirectHits } from '#server/redirect/redirect-hits.ts'
import { uid } from '#test/support/bundle-models.ts'

const uidsOf = (...numbers: readonly number[]): Uint8Array =>
  Buffer.concat(numbers.map((number) => Buffer.from(uid(number).replaceAll('-', ''), 'hex')))

test('redirects that stay keep their hits, and those of the old table meanwhile', () => {
  const hits = new RedirectHits()
  expect([...hits.counted()]).toEqual([])
  const first = new Float64Array(hits.next(1, uidsOf(2, 5)))
  hits.adopted(1)
  first.set([3, 4])
  const second = new Float64Array(hits.next(2, uidsOf(1, 5, 9)))
  expect([...hits.counted()]).toEqual([[uid(5), 4]])
  // The thread has not adopted it yet.
  first.set([30, 40])
  expect([...hits.counted()]).toEqual([[uid(5), 40]])
  second[1] = 2
  first[1] = 41
  hits.adopted(2)
  first[1] = 1_000
  expect([...hits.counted()]).toEqual([[uid(5), 43]])
})

test('three tables at once, and one that was never adopted', () => {
  const hits = new RedirectHits()
  const [a, b, c] = [1, 2, 3].map((number) => new Float64Array(hits.next(number, uidsOf(7))))
  a![0] = 1
  b![0] = 10
  c![0] = 100
  hits.adopted(3)
  expect([...hits.counted()]).toEqual([[uid(7), 111]])
  hits.next(4, uidsOf())
  expect([...hits.counted()]).toEqual([])
})

test('a redirect that comes back begins anew; others keep their hits over three tables', () => {
  const hits = new RedirectHits()
  const first = new Float64Array(hits.next(1, uidsOf(1, 3, 5, 7)))
  first.set([1, 3, 5, 7])
  const second = new Float64Array(hits.next(2, uidsOf(0, 3, 4, 7, 9)))
  second.set([10, 30, 40, 70, 90])
  const third = new Float64Array(hits.next(3, uidsOf(3, 5, 9)))
  third.set([300, 500, 900])
  // Hits of an older table are carried by way of the one between.
  first.set([2, 4, 6, 8])
  expect([...hits.counted()]).toEqual([
    [uid(3), 334],
    [uid(5), 500],
    [uid(9), 990],
  ])
})
