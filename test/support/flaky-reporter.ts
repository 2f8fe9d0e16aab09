// Lists tests that passed only in a second run: retries must not hide a defect.
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** What the reporter reads of a file that has run. */
export type FlakyModule = Pick<TestModule, 'moduleId'> & {
  readonly children: { readonly allTests: () => Iterable<FlakyCase> }
}
export interface FlakyCase {
  /** Includes the titles of its groups. */
  readonly fullName: string
  readonly diagnostic: () => { readonly flaky: boolean } | undefined
}

/** `flaky: FILE > NAME` for each, in the order of the files. */
export function flakyLines(modules: Iterable<FlakyModule>, root: string): string[] {
  return [...modules].flatMap(({ moduleId, children }) =>
    [...children.allTests()]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map(({ fullName }) => `flaky: ${relative(root, moduleId)} > ${fullName}`),
  )
}

/** Prints them after everything else. */
export class FlakyReporter implements Reporter {
  readonly #root: string
  readonly #print: (text: string) => void

  constructor(root: string, print = (text: string): unknown => process.stdout.write(text)) {
    this.#root = root
    this.#print = print
  }

  onTestRunEnd(modules: readonly FlakyModule[]): void {
    const lines = flakyLines(modules, this.#root).toSorted()
    if (lines.length === 0) return
    const advice = `${lines.length} passed only when run again; each is a defect to mend.`
    this.#print(`\n${lines.join('\n')}\n${advice}\n`)
  }
}
