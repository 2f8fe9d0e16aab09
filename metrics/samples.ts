// The samples of a metric: values with labels.

export interface Sample {
  /** Which series of a histogram it belongs to. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

export const one = (value: number): Sample[] => [{ value, labels: {} }]

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
