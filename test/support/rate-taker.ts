// A thread that takes answers from one bucket as fast as it can, in competition with another.
import { workerData } from 'node:worker_threads'
import { BucketTable, Taken } from '#answer/rate-limit/bucket-table.ts'

export interface RateTakerData {
  readonly shared: SharedArrayBuffer
  readonly buckets: number
  readonly costMicros: number
  readonly windowMicros: number
  readonly tries: number
  /** Answers granted to all threads, and number of threads that have begun. */
  readonly counts: SharedArrayBuffer
}

const { shared, buckets, costMicros, windowMicros, tries, counts } = workerData as RateTakerData
const table = new BucketTable(shared, 0, buckets)
const cells = new Int32Array(counts)
// Both threads create the key before either takes from it.
Atomics.add(cells, 1, 1)
while (Atomics.load(cells, 1) < 2);
let granted = 0
for (let i = 0; i < tries; i++) {
  const taken = table.take(0, 1, costMicros, windowMicros, 0)
  if (taken === Taken.Room || taken === Taken.RoomOfOther) granted++
}
Atomics.add(cells, 0, granted)
