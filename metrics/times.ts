// The metrics of how long answers and writes take, and of the traces that tell of writes.
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

/** Rows of the metrics table. */
export const writeRows: MetricRows = {
  gslbd_api_write_seconds: {
    type: 'histogram',
    help:
      'Requests of the API that made a commit, from their receipt to the response. In ' +
      'OpenMetrics a class has the trace of its last request as exemplar, where traces are on.',
    labels: ['le'],
    read: ({ apiWrites }) => {
      if (apiWrites === null) return []
      let total = 0
      const buckets = apiWrites.classes.map(({ uptoSeconds, count, exemplar }): Sample => {
        total += count
        const le = uptoSeconds === Infinity ? '+Inf' : String(uptoSeconds)
        return {
          ...{ suffix: '_bucket', value: total, labels: { le } },
          ...(exemplar && { exemplar }),
        }
      })
      return [
        ...buckets,
        { suffix: '_sum', value: apiWrites.sumSeconds, labels: {} },
        { suffix: '_count', value: total, labels: {} },
      ]
    },
  },
  gslbd_trace_spans_total: {
    help:
      'Spans of traces: `sent`; `refused` by the collector; `dropped` because too many waited, ' +
      'or at a stop.',
    labels: ['outcome'],
    read: ({ spans }) => {
      if (spans === null) return []
      const { sent, refused, dropped } = spans
      return Object.entries({ sent, refused, dropped }).map(([outcome, value]) => ({
        value,
        labels: { outcome },
      }))
    },
  },
  gslbd_trace_spans_waiting: {
    help: 'Spans that wait for the collector.',
    read: ({ spans }) => spans?.waiting,
  },
}
