// Parses Prometheus' text format 0.0.4, as /metrics of a node returns it.
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Samples by metric; none for an unknown name. */
export type MetricSamples = ReadonlyMap<string, readonly MetricSample[]>

/** Further lines are not read; a node with 10,000 pools has fewer. */
const linesMax = 500_000
const line = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([-+.\w]+)(?: -?\d+)?$/
const label = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?/g

/** Skips lines that are no samples. */
export function readMetrics(text: string): MetricSamples {
  const metrics = new Map<string, MetricSample[]>()
  for (const each of text.split('\n', linesMax)) {
    if (each.length > 4_096 || each.startsWith('#')) continue
    const [, name, labels = '', written = ''] = line.exec(each) ?? []
    const value = Number(written)
    if (name === undefined || Number.isNaN(value)) continue
    getOrInsert(metrics, name, () => []).push({ labels: labelsIn(labels), value })
  }
  return metrics
}

function labelsIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(label)].map(([, name = '', value = '']) => [
    name,
    unescaped(value),
  ])
  return Object.fromEntries(pairs) as Record<string, string>
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_whole, sign: string) => (sign === 'n' ? '\n' : sign))
}

export function sumOf(metrics: MetricSamples, name: string): number {
  return (metrics.get(name) ?? []).reduce((sum, { value }) => sum + value, 0)
}

/** Values by one label; equal ones are added up. */
export function byLabel(metrics: MetricSamples, name: string, key: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { labels, value } of metrics.get(name) ?? []) {
    const of = labels[key] ?? ''
    sums.set(of, (sums.get(of) ?? 0) + value)
  }
  return sums
}
