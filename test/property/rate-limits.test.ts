// No network gets more answers of a class in any window than the burst and what the rate brings in
// it, however crowded the table is.
import fc from 'fast-check'
import { test } from 'vitest'
import { bucketBytes, BucketTable, Taken } from '#answer/rate-limit/bucket-table.ts'
import { laneCount } from '#test/support/lane.ts'

const costMicros = 1_000
const burst = 8
const windowMicros = burst * costMicros

interface Asked {
  /** All keys share one line of the table, or two. */
  readonly key: number
  readonly afterMicros: number
}

const asked: fc.Arbitrary<Asked> = fc.record({
  key: fc.nat(40),
  afterMicros: fc.oneof(
    { weight: 6, arbitrary: fc.nat(300) },
    { weight: 2, arbitrary: fc.nat(5_000) },
    { weight: 1, arbitrary: fc.constantFrom(20_000, 1_000_000, 2_000_000_000) },
  ),
})

const histories = fc.record({
  startMicros: fc.integer(),
  lines: fc.constantFrom(1, 2),
  asked: fc.array(asked, { minLength: 50, maxLength: 600 }),
  /** Some keys ask far more often than others. */
  loud: fc.nat(40),
})

test('in any window a key gets no more than the burst and what the rate brings', () => {
  fc.assert(
    fc.property(histories, ({ startMicros, lines, asked: all, loud }) => {
      const buckets = lines * 8
      const table = new BucketTable(new SharedArrayBuffer(buckets * bucketBytes), 0, buckets)
      table.fill(startMicros)
      const answered = new Map<number, number[]>()
      let now = 0
      for (const [i, { key, afterMicros }] of all.entries()) {
        now += afterMicros
        const who = i % 3 === 0 ? loud : key
        const nowMicros = (startMicros + now) | 0
        if (i % 50 === 0) table.sweep(0, 1, nowMicros)
        // The low bits say which line, the high ones which bucket.
        const hash = Math.imul(who, 0x2000_0001)
        const taken = table.take(hash, who + 1, costMicros, windowMicros, nowMicros)
        if (taken === Taken.Room || taken === Taken.RoomOfOther) {
          answered.set(who, [...(answered.get(who) ?? []), now])
        }
      }
      for (const times of answered.values()) {
        for (let first = 0; first < times.length; first++) {
          for (let last = first; last < times.length; last++) {
            const spanMicros = times[last]! - times[first]!
            const most = burst + Math.floor(spanMicros / costMicros)
            if (last - first + 1 > most) return false
          }
        }
      }
      return true
    }),
    { numRuns: laneCount(3_000, 150) },
  )
})

test('with a bucket for each key, a key that keeps to the rate loses nothing', () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(fc.nat(6), { maxLength: 500 }), (startMicros, others) => {
      const table = new BucketTable(new SharedArrayBuffer(8 * bucketBytes), 0, 8)
      table.fill(startMicros)
      return others.every((other, i) => {
        const nowMicros = (startMicros + i * costMicros) | 0
        for (let n = 0; n < 5; n++) table.take(0, other + 2, costMicros, windowMicros, nowMicros)
        return table.take(0, 1, costMicros, windowMicros, nowMicros) === Taken.Room
      })
    }),
    { numRuns: laneCount(1_000) },
  )
})
