// Checks figures against the budgets of budget.json.
import { readFileSync } from 'node:fs'
import type { Figure } from './report.ts'

export interface Budget {
  readonly atMost: number
  readonly unit: string
  /**
   * True: `--check` fails when it is exceeded. False: only reported, since it depends too much on
   * the machine.
   */
  readonly isChecked: boolean
}

interface Verdict {
  readonly name: string
  readonly figure: Figure | undefined
  readonly budget: Budget
  readonly verdict: 'within' | 'over' | 'not measured'
}

export function readBudgets(): Record<string, Budget> {
  const text = readFileSync(new URL('./budget.json', import.meta.url), 'utf8')
  return JSON.parse(text) as Record<string, Budget>
}

/** A verdict for each budget. A figure that is not a number counts as exceeded. */
export function judge(
  figures: Readonly<Record<string, Figure>>,
  budgets: Readonly<Record<string, Budget>>,
): Verdict[] {
  return Object.entries(budgets).map(([name, budget]) => {
    const figure = figures[name]
    if (figure === undefined) return { name, figure, budget, verdict: 'not measured' }
    return { name, figure, budget, verdict: figure.value <= budget.atMost ? 'within' : 'over' }
  })
}

/** A line for each budget with a figure in this run. */
export function budgetLines(verdicts: readonly Verdict[]): string {
  const measured = verdicts.filter(({ figure }) => figure !== undefined)
  if (measured.length === 0) return ''
  const width = Math.max(...measured.map(({ name }) => name.length))
  const lines = measured.map(({ name, figure, budget, verdict }) => {
    const value = Number(figure!.value.toPrecision(4))
    const kind = budget.isChecked ? '' : ' (reported only)'
    return `  ${name.padEnd(width)}  ${value} ${budget.unit}, at most ${budget.atMost}: ${verdict}${kind}`
  })
  return `budgets\n${lines.join('\n')}\n`
}
