// The types of a benchmark: its input, its tables, its figures for budgets.

export interface Table {
  readonly title: string
  /** Each includes its unit. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Facts needed to interpret the numbers. */
  readonly notes: readonly string[]
}

/** A number under a name for budgets, such as `bundle.million.load`. */
export interface Figure {
  readonly value: number
  readonly unit: string
  /** Number of measurements behind the value. */
  readonly n: number
}

export interface Report {
  readonly tables: readonly Table[]
  readonly figures: Readonly<Record<string, Figure>>
}

export interface BenchContext {
  /** Shorter and fewer runs: shows that everything works, not how fast. */
  readonly isQuick: boolean
  /** An empty directory, removed afterwards. */
  readonly directory: string
  /** Values of `--rate` and `--queries`, for benchmarks that replay such a load. */
  readonly load: { readonly rate?: number; readonly queries?: number }
  /** Reports progress in a line. */
  readonly say: (line: string) => void
}

export interface Benchmark {
  readonly name: string
  readonly summary: string
  readonly run: (context: BenchContext) => Promise<Report>
}

export function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-'
}

/** Mebibytes. */
export function mib(bytes: number): string {
  return fixed(bytes / 1_048_576, 0)
}
