import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { noLimit, QueryBucket, queryBucketBytes } from '#answer/counters/query-bucket.ts'
import type { TakerData } from '../../../support/bucket-taker.ts'
import { waitUntil } from '../../../support/wait-until.ts'

function bucketAt(startMs: number) {
  const shared = new SharedArrayBuffer(queryBucketBytes)
  let nowMs = startMs
  return {
    bucket: new QueryBucket(shared, () => nowMs),
    other: new QueryBucket(shared, () => nowMs),
    pass: (ms: number) => (nowMs += ms),
  }
}

describe('the bucket of queries a second', () => {
  test('has no limit until somebody sets one, and none again at 0', () => {
    const { bucket } = bucketAt(5)
    expect(bucket.take(24)).toBe(noLimit)
    bucket.adopt(10)
    expect(bucket.take(24)).toBe(10)
    bucket.adopt(0)
    expect(bucket.take(24)).toBe(noLimit)
    bucket.giveBack(noLimit)
    expect(bucket.take(1)).toBe(noLimit)
  })

  test('is full at the start and after each change, and holds one second', () => {
    const { bucket, other, pass } = bucketAt(1_000_000)
    bucket.adopt(100)
    expect(other.take(60)).toBe(60)
    expect(bucket.take(60)).toBe(40)
    expect(other.take(1)).toBe(0)
    pass(60_000)
    expect(other.take(500)).toBe(100)
    bucket.adopt(3)
    expect(other.take(500)).toBe(3)
    bucket.adopt(50)
    expect(other.take(500)).toBe(50)
  })

  test.each([1, 3, 5, 20, 333, 1_500, 1_000_000])(
    'at %i a second, no fraction of a token is lost, however often it is asked',
    (rate) => {
      const { bucket, pass } = bucketAt(123_456_789_012.25)
      bucket.adopt(rate)
      bucket.take(rate)
      let granted = 0
      for (let ms = 0; ms < 10_000; ms++) {
        pass(1)
        granted += bucket.take(rate)
      }
      expect(granted).toBeGreaterThanOrEqual(10 * rate - 1)
      expect(granted).toBeLessThanOrEqual(10 * rate + 1)
    },
  )

  test.each([2 ** 31 - 500, 2 ** 32 - 500, 2 ** 53 / 2 ** 20 - 500])(
    'goes on where the clock leaves 32 bits (from %i ms)',
    (startMs) => {
      const { bucket, pass } = bucketAt(startMs)
      bucket.adopt(1_000)
      bucket.take(1_000)
      pass(999)
      expect(bucket.take(5_000)).toBe(999)
    },
  )

  test.each([
    ['an hour', 3_600_000],
    ['30 days', 30 * 86_400_000],
    ['50 days', 50 * 86_400_000],
  ])('is full after %s without a query, and not more than full', (_name, ms) => {
    const { bucket, pass } = bucketAt(77)
    bucket.adopt(20)
    bucket.take(20)
    pass(ms)
    expect(bucket.take(1_000)).toBe(20)
  })

  test('takes back what was not needed, up to the brim', () => {
    const { bucket } = bucketAt(0)
    bucket.adopt(10)
    bucket.giveBack(bucket.take(8) - 5)
    expect(bucket.take(100)).toBe(5)
    bucket.giveBack(10_000)
    expect(bucket.take(100)).toBe(10)
  })

  test('a clock that is a little behind another thread’s brings nothing twice', () => {
    const shared = new SharedArrayBuffer(queryBucketBytes)
    let aheadMs = 1_000
    const ahead = new QueryBucket(shared, () => aheadMs)
    const behind = new QueryBucket(shared, () => aheadMs - 3)
    ahead.adopt(1_000)
    ahead.take(1_000)
    let granted = 0
    for (let i = 0; i < 100; i++) {
      aheadMs += 1
      granted += ahead.take(1_000) + behind.take(1_000)
    }
    expect(granted).toBe(100)
  })

  test('two threads together get exactly what one would', async () => {
    const rate = 10_000
    const data: TakerData = {
      bucket: new SharedArrayBuffer(queryBucketBytes),
      time: new SharedArrayBuffer(8),
      counts: new SharedArrayBuffer(12),
      batch: 7,
    }
    const time = new Float64Array(data.time)
    const counts = new Int32Array(data.counts)
    time[0] = 5_000
    new QueryBucket(data.bucket, () => time[0]!).adopt(rate)
    const file = new URL('../../../support/bucket-taker.ts', import.meta.url)
    const workers = [data, { ...data, batch: 24 }].map(
      (workerData) => new Worker(file, { workerData }),
    )
    const granted = () => Atomics.load(counts, 0)
    await waitUntil('both at work', () => Atomics.load(counts, 2) === 2 && granted() === rate)
    // Less than a second in all, so that the brim is never reached: what is brought can be counted.
    for (let ms = 1; ms < 1_000; ms++) {
      time[0] = 5_000 + ms
      if (ms % 100 === 0) await waitUntil('all that came', () => granted() === rate + ms * 10)
    }
    await waitUntil('the last', () => granted() === rate + 9_990)
    Atomics.store(counts, 1, 1)
    await Promise.all(workers.map((worker) => once(worker, 'exit')))
    expect(granted()).toBe(rate + 9_990)
  })
})
