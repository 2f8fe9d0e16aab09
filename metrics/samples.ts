// A metric as a row of the table, and its samples: values with labels.
import type { Exemplar, MetricsSnapshot } from './snapshot.ts'

export interface Sample {
  /** Which series of a histogram it belongs to. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
  /** For a bucket; only OpenMetrics has a form for it. */
  readonly exemplar?: Exemplar
}

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Samples of a histogram are its parts, each with its `suffix`. */
  readonly read: (snapshot: MetricsSnapshot) => readonly Sample[]
}

/** A row of the table: what the name of a metric does not tell. */
export interface MetricRow {
  readonly help: string
  readonly labels?: readonly string[]
  /** Left out: a counter where the name ends in `_total`, else a gauge. */
  readonly type?: 'histogram'
  /** A plain value has no labels; null and undefined: the value is not known yet. */
  readonly read: (snapshot: MetricsSnapshot) => Reading
}

/** Rows by the name of their metric. */
export type MetricRows = Readonly<Record<string, MetricRow>>

export type Reading = number | boolean | null | undefined | readonly Sample[]

export const metricsOf = (rows: MetricRows): readonly Metric[] =>
  Object.entries(rows).map(([name, { help, labels = [], type, read }]) => ({
    ...{ name, help, labels },
    type: type ?? (name.endsWith('_total') ? 'counter' : 'gauge'),
    read: (snapshot) => {
      const found = read(snapshot)
      if (found === null || found === undefined) return []
      return typeof found === 'object' ? found : [{ value: Number(found), labels: {} }]
    },
  }))

/** Adds up the counts of unknown names under `other`. */
export function bounded(
  counts: Readonly<Record<string, number>>,
  names: readonly string[],
): [name: string, count: number][] {
  const sums = new Map<string, number>()
  for (const [name, count] of Object.entries(counts)) {
    const key = names.includes(name) ? name : 'other'
    sums.set(key, (sums.get(key) ?? 0) + count)
  }
  return [...sums]
}
