// Prints the metrics as Prometheus text, with those of Node's own process.
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { MetricsSnapshot } from './snapshot.ts'
import { metricRows } from './table.ts'
import type { Metric } from './samples.ts'

export interface Metrics {
  /** Prometheus text format 0.0.4. */
  readonly text: () => Promise<string>
}

/** @param takeSnapshot called once for each scrape */
export function createMetrics(takeSnapshot: () => MetricsSnapshot): Metrics {
  const registry = new Registry()
  // The delay of the event loop is sampled ten times a second: its timer must not show in the load.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const fills = metricRows.filter(isPlain).map((row) => register(row, registry))
  const histograms = metricRows.filter((row) => row.type === 'histogram')
  return {
    text: async () => {
      const snapshot = takeSnapshot()
      for (const fill of fills) fill(snapshot)
      const texts = histograms.map((row) => histogramText(row, snapshot))
      return [await registry.metrics(), ...texts].join('')
    },
  }
}

/** Gauges that are named like counters; their sum is that of the ones by type. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

type PlainRow = Metric & { readonly type: 'counter' | 'gauge' }

const isPlain = (row: Metric): row is PlainRow => row.type !== 'histogram'

/** The library's histograms take single values; ours were counted elsewhere. */
function histogramText({ name, help, read }: Metric, snapshot: MetricsSnapshot): string {
  const lines = read(snapshot).map(({ suffix = '', labels, value }) => {
    const le = labels['le'] === undefined ? '' : `{le="${labels['le']}"}`
    return `${name}${suffix}${le} ${value}\n`
  })
  if (lines.length === 0) return ''
  return `\n# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join('')}`
}

/** @returns a function that replaces all samples of the metric by those of a snapshot */
function register(row: PlainRow, registry: Registry): (snapshot: MetricsSnapshot) => void {
  const { name, help } = row
  const options = { name, help, labelNames: [...row.labels], registers: [registry] }
  const metric = row.type === 'counter' ? new Counter(options) : new Gauge(options)
  return (snapshot) => {
    metric.reset()
    // The library keeps a 0 where there are no labels; what is not known must not read 0.
    if (row.labels.length === 0) metric.remove()
    // Our counts are totals already, so from 0 an increment is the total.
    for (const { labels, value } of row.read(snapshot)) metric.inc(labels, value)
  }
}
