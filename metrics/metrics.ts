// Prints the metrics, with those of Node's own process.
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import { asOpenMetrics } from '#metrics/text/form.ts'
import type { MetricsForm } from '#metrics/text/form.ts'
import type { Exemplar, MetricsSnapshot } from './snapshot.ts'
import { metricRows } from './table.ts'
import type { Metric } from './samples.ts'

export interface Metrics {
  /** @param form left out: that of Prometheus */
  readonly text: (form?: MetricsForm) => Promise<string>
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
    text: async (form = 'prometheus') => {
      const snapshot = takeSnapshot()
      for (const fill of fills) fill(snapshot)
      const texts = histograms.map((row) => histogramText(row, snapshot, form))
      const text = [await registry.metrics(), ...texts].join('')
      return form === 'openmetrics' ? asOpenMetrics(text) : text
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
function histogramText(
  { name, help, read }: Metric,
  snapshot: MetricsSnapshot,
  form: MetricsForm,
): string {
  const lines = read(snapshot).map(({ suffix = '', labels, value, exemplar }) => {
    const le = labels['le'] === undefined ? '' : `{le="${labels['le']}"}`
    const mark = exemplar && form === 'openmetrics' ? exemplarText(exemplar) : ''
    return `${name}${suffix}${le} ${value}${mark}\n`
  })
  if (lines.length === 0) return ''
  return `\n# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join('')}`
}

const exemplarText = ({ traceId, seconds, atMs }: Exemplar): string =>
  ` # {trace_id="${traceId}"} ${seconds} ${atMs / 1_000}`

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
