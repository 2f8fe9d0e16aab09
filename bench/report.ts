// The types of a benchmark: its input, its tables for people, its figures for budgets.

export interface Table {
  readonly title: string
  /** Each names its unit. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** What a reader must know to read the numbers rightly. */
  readonly notes: readonly string[]
}

/** One number under a name that a budget can refer to, such as `bundle.million.load`. */
export interface Figure {
  readonly value: number
  readonly unit: string
  /** Measurements behind the value. */
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
  /** What `--rate` and `--queries` ask for; benchmarks that replay a load of that kind heed it. */
  readonly load: { readonly rate?: number; readonly queries?: number }
  /** One line about what is being measured. */
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
