// The cache of outcomes: what is found is what was kept for just this question.
import { describe, expect, test } from 'vitest'
import { Outcomes } from '#routing/chain/outcomes.ts'

const owner = {}

/** There are 8,192 entries: each has some of these, and the first and last value share one. */
const values = [0, 1, 5, 8_192]

/** Keeps an outcome for each of 25,600 questions, then asks all of them. */
function forEachQuestion(visit: (version: number, value: number, number: number) => void) {
  const outcomes = new Outcomes()
  const ask = (isKept: boolean): void => {
    let number = 0
    for (let policyRow = 0; policyRow < 40; policyRow++) {
      for (let pool = 0; pool < 40; pool++) {
        for (let family = 0; family < 2; family++) {
          for (const version of [1, 2]) {
            outcomes.open(owner, policyRow, pool, family, version)
            for (const value of values) {
              number++
              if (isKept) {
                outcomes.action = -number
                outcomes.member = number
                outcomes.isOnly = number % 3 === 0
                outcomes.keep(value)
              } else if (outcomes.find(value)) {
                expect([outcomes.action, outcomes.member]).toEqual([-number, number])
                expect(outcomes.isOnly).toBe(number % 3 === 0)
                visit(version, value, number)
              }
            }
          }
        }
      }
    }
  }
  ask(true)
  ask(false)
}

describe('the cache of outcomes', () => {
  test('finds nothing that was kept for another question, however full it is', () => {
    let found = 0
    const versions = new Set<number>()
    forEachQuestion((version) => {
      found++
      versions.add(version)
    })
    expect(found).toBeGreaterThan(1_000)
    // The candidates of the first version are of the past.
    expect([...versions]).toEqual([2])
  })

  test.each([
    ['after it was cleared', (outcomes: Outcomes) => outcomes.clear(), owner],
    ['for policies that are bound to something else', () => undefined, {}],
  ])('finds nothing %s', (_name, change, next) => {
    const outcomes = new Outcomes()
    outcomes.open(owner, 0, 0, 0, 1)
    outcomes.keep(7)
    expect(outcomes.find(7)).toBe(true)
    change(outcomes)
    outcomes.open(next, 0, 0, 0, 1)
    expect(outcomes.find(7)).toBe(false)
  })
})
