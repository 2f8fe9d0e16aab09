import { describe, expect, test } from 'vitest'
import { initialVerdict, takeResult } from '#health/verdict/verdict.ts'

/** `+` and `-` are results in; `H` and `U` are the state after each. */
const rows: [string, { riseCount: number; fallCount: number }, string, string][] = [
  ['one result flips by default', { riseCount: 1, fallCount: 1 }, '+--++-', 'HUUHHU'],
  ['fallCount failures in a row are needed', { riseCount: 1, fallCount: 3 }, '--+---+', 'HHHHHUH'],
  ['riseCount successes in a row are needed', { riseCount: 2, fallCount: 1 }, '-+-++', 'UUUUH'],
  ['both count from the flip on', { riseCount: 2, fallCount: 2 }, '---+++--', 'HUUUHHHU'],
]

describe('a verdict', () => {
  test.each(rows)('%s', (_name, rule, results, states) => {
    const verdict = initialVerdict()
    let seen = ''
    for (const result of results) {
      const before = verdict.healthy
      const changed = takeResult(verdict, result === '+', rule)
      expect(changed).toBe(before !== verdict.healthy)
      seen += verdict.healthy ? 'H' : 'U'
    }
    expect(seen).toBe(states)
  })

  test('is healthy before the first result', () => {
    expect(initialVerdict()).toEqual({ healthy: true, contraryCount: 0 })
  })
})
