// A metric as a row of the table, and its samples: values with labels.
import type { MetricsSnapshot } from './snapshot.ts'

export interface Sample {
  /** Which series of a histogram it belongs to. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Samples of a histogram are its parts, each with its `suffix`. */
  readonly read: (snapshot: MetricsSnapshot) => readonly Sample[]
}

/** A metric as it is written down. */
export interface MetricRow extends Omit<Metric, 'labels' | 'read'> {
  readonly labels?: readonly string[]
  /** A value alone has no labels; null and undefined: it is not known yet. */
  readonly read: (snapshot: MetricsSnapshot) => Reading
}

export type Reading = number | boolean | null | undefined | readonly Sample[]

export const metricOf = ({ labels = [], read, ...row }: MetricRow): Metric => ({
  ...{ ...row, labels },
  read: (snapshot) => {
    const found = read(snapshot)
    if (found === null || found === undefined) return []
    return typeof found === 'object' ? found : [{ value: Number(found), labels: {} }]
  },
})

/** Unknown names are added up under `other`. */
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
