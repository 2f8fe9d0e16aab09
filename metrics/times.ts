// The metric of how long answers take: a histogram over the queries that were timed.
import type { MetricRows, Sample } from './samples.ts'

/** Rows of the metrics table. */
export const timeRows: MetricRows = {
  gslbd_dns_answer_seconds: {
    type: 'histogram',
    help:
      'From the receipt of a batch of UDP queries until its answers are sent, for each query of ' +
      'one batch in 64. The time of the node alone: no network, no queue of the kernel.',
    labels: ['le'],
    read: ({ threads }) => {
      const counts = new Map<number, number>()
      let sumMs = 0
      for (const { times } of threads) {
        sumMs += times.sumMs
        for (const { uptoMs, count } of times.classes) {
          counts.set(uptoMs, (counts.get(uptoMs) ?? 0) + count)
        }
      }
      let total = 0
      const buckets = [...counts].map(([uptoMs, count]): Sample => {
        total += count
        const le = uptoMs === Infinity ? '+Inf' : String(uptoMs / 1_000)
        return { suffix: '_bucket', value: total, labels: { le } }
      })
      if (buckets.length === 0) return []
      return [
        ...buckets,
        { suffix: '_sum', value: sumMs / 1_000, labels: {} },
        { suffix: '_count', value: total, labels: {} },
      ]
    },
  },
}
