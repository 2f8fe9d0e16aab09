import { expect, test } from 'vitest'
import { budgetLines, judge, readBudgets } from '#bench/budget.ts'
import type { Budget } from '#bench/budget.ts'

const budget: Budget = { atMost: 2, unit: 'ms', isChecked: true }
const figure = (value: number) => ({ value, unit: 'ms', n: 1 })

test.each([
  ['less', 1, 'within'],
  ['as much as allowed', 2, 'within'],
  ['more', 2.001, 'over'],
  ['no number, which shows nothing', Number.NaN, 'over'],
])('a figure that is %s', (_, value, verdict) => {
  expect(judge({ load: figure(value) }, { load: budget })).toMatchObject([{ verdict }])
})

test('a budget without a figure is not measured, and is not printed', () => {
  const verdicts = judge({}, { load: budget })
  expect(verdicts).toMatchObject([{ verdict: 'not measured' }])
  expect(budgetLines(verdicts)).toBe('')
})

test('a line says the value, the limit, the verdict, and whether a check would fail', () => {
  const budgets = { load: budget, 'the.ratio': { atMost: 1, unit: 'ratio', isChecked: false } }
  expect(budgetLines(judge({ load: figure(1.23456), 'the.ratio': figure(3) }, budgets))).toBe(
    'budgets\n' +
      '  load       1.235 ms, at most 2: within\n' +
      '  the.ratio  3 ratio, at most 1: over (reported only)\n',
  )
})

test('the budgets of this repository are numbers with units', () => {
  const budgets = Object.values(readBudgets())
  expect(budgets.length).toBeGreaterThan(0)
  for (const { atMost, unit, isChecked } of budgets) {
    expect(atMost).toBeGreaterThanOrEqual(0)
    expect(unit).not.toBe('')
    expect(typeof isChecked).toBe('boolean')
  }
})
