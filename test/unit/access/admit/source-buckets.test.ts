import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SourceBuckets } from '#access/admit/source-buckets.ts'
import { FakeTime } from '../../../support/fake-time.ts'

const limits = { perSecond: 2, burst: 3, sourcesMax: 4 }

function scene() {
  const time = new FakeTime(0)
  return { time, buckets: new SourceBuckets(limits, time.clock) }
}

test('a bucket holds a burst and fills at its rate', () => {
  const { time, buckets } = scene()
  const take = (count: number) => Array.from({ length: count }, () => buckets.take('192.0.2.1'))
  expect(take(5)).toEqual([0, 0, 0, 500, 500])
  time.pass(499)
  expect(take(1)).toEqual([1])
  time.pass(1)
  expect(take(2)).toEqual([0, 500])
  time.pass(60_000)
  expect(take(4)).toEqual([0, 0, 0, 500])
})

test.each([
  ['192.0.2.1', '192.0.2.2', false],
  ['192.0.2.1', '::ffff:192.0.2.1', true],
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
])('%s and %s are one client: %s', (first, second, isOne) => {
  const { buckets } = scene()
  for (let i = 0; i < limits.burst; i++) buckets.take(first)
  expect(buckets.take(second) > 0).toBe(isOne)
})

test('a full table forgets only buckets that are full', () => {
  const { time, buckets } = scene()
  const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'] as const
  for (const address of addresses) for (let i = 0; i < limits.burst; i++) buckets.take(address)
  expect(buckets.take('192.0.2.5')).toBeGreaterThan(0)
  // Full again after a second and a half, but the last one.
  time.pass(1_000)
  buckets.take(addresses[3])
  expect(buckets.take('192.0.2.5')).toBeGreaterThan(0)
  time.pass(900)
  buckets.take(addresses[3])
  time.pass(100)
  expect(buckets.take('192.0.2.5')).toBe(0)
  const left = Array.from({ length: limits.burst }, () => buckets.take(addresses[3]))
  expect(left.filter((waitMs) => waitMs === 0)).toHaveLength(2)
})

test('at any times each client gets its tokens and not one more', () => {
  const step = fc.record({ source: fc.nat(2), waitMs: fc.nat(700) })
  const property = fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const { time, buckets } = scene()
    const model = [0, 1, 2].map(() => ({ tokens: limits.burst, atMs: 0 }))
    let nowMs = 0
    for (const { source, waitMs } of steps) {
      time.pass(waitMs)
      nowMs += waitMs
      const bucket = model[source]!
      const brought = ((nowMs - bucket.atMs) * limits.perSecond) / 1_000
      bucket.tokens = Math.min(limits.burst, bucket.tokens + brought)
      bucket.atMs = nowMs
      // The sums of floats may differ by a hair where exactly one token is there.
      if (Math.abs(bucket.tokens - 1) < 1e-9) bucket.tokens = 1
      const isTaken = bucket.tokens >= 1
      if (isTaken) bucket.tokens--
      expect(buckets.take(`192.0.2.${source}`) === 0).toBe(isTaken)
    }
  })
  fc.assert(property)
})
