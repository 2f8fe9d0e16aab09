// A thread that takes tokens from a shared bucket as fast as it can, and counts them.
import { workerData } from 'node:worker_threads'
import { QueryBucket } from '#answer/counters/query-bucket.ts'

export interface TakerData {
  readonly bucket: SharedArrayBuffer
  /** One double: the common time of all takers. */
  readonly time: SharedArrayBuffer
  /** Cells: tokens granted to all takers; 1 to end; number of takers that have begun. */
  readonly counts: SharedArrayBuffer
  readonly batch: number
}

const data = workerData as TakerData
const time = new Float64Array(data.time)
const counts = new Int32Array(data.counts)
const bucket = new QueryBucket(data.bucket, () => time[0]!)
Atomics.add(counts, 2, 1)
while (Atomics.load(counts, 1) === 0) Atomics.add(counts, 0, bucket.take(data.batch))
