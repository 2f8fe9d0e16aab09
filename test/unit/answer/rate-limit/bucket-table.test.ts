// The table of buckets: collisions, keys that take over a bucket, the sweep, and two threads.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { bucketBytes, bucketCountFor, BucketTable, Taken } from '#answer/rate-limit/bucket-table.ts'
import type { RateTakerData } from '#test/support/rate-taker.ts'

const { Room, None, RoomOfOther, NoneOfOther } = Taken
const cost = 1_000
const window = 3_000

function tableOf(buckets: number, nowMicros = 0) {
  const table = new BucketTable(new SharedArrayBuffer(buckets * bucketBytes), 0, buckets)
  table.fill(nowMicros)
  const take = (hash: number, tag: number, now = nowMicros) =>
    table.take(hash, tag, cost, window, now)
  return { table, take }
}

test.each([
  [1, 8],
  [8, 8],
  [9, 16],
  [131_072, 131_072],
  [131_073, 262_144],
])('%i buckets are a table of %i', (wanted, count) => {
  expect(bucketCountFor(wanted)).toBe(count)
})

describe('keys', () => {
  test('on one line have a bucket each while there are at most eight', () => {
    const { take } = tableOf(16)
    for (let tag = 1; tag <= 8; tag++) {
      expect([take(0, tag), take(0, tag), take(0, tag)]).toEqual([Room, Room, Room])
    }
    for (let tag = 1; tag <= 8; tag++) expect(take(0, tag)).toBe(None)
    // Its line is the other one.
    expect(take(1, 9)).toBe(Room)
  })

  test('beyond eight take over the fullest bucket, and what was taken from it', () => {
    const { take } = tableOf(8)
    for (let tag = 1; tag <= 8; tag++) for (let n = 0; n < (tag === 5 ? 1 : 3); n++) take(0, tag)
    expect([take(0, 9), take(0, 9), take(0, 9)]).toEqual([RoomOfOther, Room, None])
    // The one that was pushed out gets no new burst.
    expect(take(0, 5)).toBe(NoneOfOther)
    expect(take(0, 5, cost)).toBe(RoomOfOther)
  })

  test('leave their bucket to others without a trace when they are quiet', () => {
    const { take } = tableOf(8)
    for (let tag = 1; tag <= 8; tag++) take(0, tag)
    for (let tag = 11; tag <= 18; tag++) expect(take(0, tag, window)).toBe(Room)
  })

  test('keep the bucket that they have when the one they would have first is free again', () => {
    const { take } = tableOf(8)
    expect([take(0, 1), take(0, 2), take(0, 2), take(0, 2)]).toEqual([Room, Room, Room, Room])
    expect([take(0, 2, cost), take(0, 2, cost)]).toEqual([Room, None])
  })
})

describe('the clock of 32 bits', () => {
  const turnMicros = 2 ** 32

  test('keeps full buckets full after it wraps, if the table was swept', () => {
    const { table, take } = tableOf(1_024)
    for (let n = 0; n < 3; n++) take(0, 1)
    const tenMinutes = 600_000_000
    for (let now = 0; now < turnMicros; now += tenMinutes) {
      for (let part = 0; part < 128; part++) table.sweep(part, 128, now | 0)
    }
    // 1 ms before the same time once more.
    expect(take(0, 1, (turnMicros - cost) | 0)).toBe(Room)
  })

  test('the sweep takes nothing away and gives nothing', () => {
    const { table, take } = tableOf(8)
    for (let n = 0; n < 3; n++) take(0, 1)
    table.sweep(0, 1, cost)
    expect([take(0, 1, cost), take(0, 1, cost)]).toEqual([Room, None])
  })
})

test('two threads together get exactly what one would from a bucket that is not full', async () => {
  const burst = 200_000
  const data: RateTakerData = {
    ...{ shared: new SharedArrayBuffer(8 * bucketBytes), counts: new SharedArrayBuffer(8) },
    ...{ buckets: 8, costMicros: 100, windowMicros: burst * 100, tries: burst },
  }
  const table = new BucketTable(data.shared, 0, 8)
  table.fill(0)
  table.take(0, 1, data.costMicros, data.windowMicros, 0)
  const file = new URL('../../../support/rate-taker.ts', import.meta.url)
  const workers = [0, 1].map(() => new Worker(file, { workerData: data }))
  await Promise.all(workers.map((worker) => once(worker, 'exit')))
  expect(Array.from(new Int32Array(data.counts))).toEqual([burst - 1, 2])
})
