// Prints the slowest test files at the end of a run.
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** What the reporter reads of a file that has run. */
export type TimedModule = Pick<TestModule, 'moduleId'> & {
  readonly diagnostic: () => {
    readonly collectDuration: number
    readonly setupDuration: number
    readonly duration: number
  }
}

/** `  12.3 s  FILE`, the slowest first. */
export function slowLines(modules: Iterable<TimedModule>, root: string, count = 20): string[] {
  const timed = [...modules].map((module) => {
    const { collectDuration, setupDuration, duration } = module.diagnostic()
    return { file: relative(root, module.moduleId), ms: collectDuration + setupDuration + duration }
  })
  return timed
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, count)
    .map(({ file, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`)
}

export class SlowReporter implements Reporter {
  readonly #root: string
  readonly #print: (text: string) => void

  constructor(root: string, print = (text: string): unknown => process.stdout.write(text)) {
    this.#root = root
    this.#print = print
  }

  onTestRunEnd(modules: readonly TimedModule[]): void {
    // A run of a few files shows by itself which one took long.
    if (modules.length <= 20) return
    const lines = slowLines(modules, this.#root)
    this.#print(`\nThe slowest ${lines.length} of ${modules.length} files:\n${lines.join('\n')}\n`)
  }
}
