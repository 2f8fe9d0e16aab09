// The health that a file assumes: what the API says of a member is taken as it is.
import { expect, test } from 'vitest'
import { HealthStatus } from '#api/resources/health-status.ts'
import { healthOf } from '#judge/simulate/health.ts'

const status = { healthy: false, score: 0, rttMs: 12, reason: 'refused', since: 1, lastCheck: 2 }

test.each(Object.keys(HealthStatus.properties))('a status of the API may have %s', (name) => {
  const { healthy, score, rttMs, ...words } = status
  expect(healthOf({ [name]: [], ...status })).toEqual({ healthy, score, rttMs, words })
})

test.each([
  [{ helthy: false }],
  [{ ...status, more: 1 }],
  [{ healthy: 'no' }],
  [{ score: 2 }],
  [[]],
  ['up'],
  [null],
])('%j states no health', (value) => {
  expect(healthOf(value)).toBeUndefined()
})
