// How often failing scripts are named, by a clock that is moved by hand.
import { expect, test } from 'vitest'
import { ReportLimit, reportLimits } from '#answer/script/report-limit.ts'

function newLimit() {
  const time = { ms: 5_000 }
  const limit = new ReportLimit({ nowMs: () => time.ms, monotonicMs: () => time.ms })
  const allowed = (key: string, times: number): number =>
    Array.from({ length: times }, () => limit.allows(key)).filter(Boolean).length
  return { time, allowed }
}

test('a service is named a few times in a minute, whatever others do', () => {
  const { time, allowed } = newLimit()
  const { perMinute } = reportLimits
  expect([allowed('a', 100), allowed('b', 100)]).toEqual([perMinute, perMinute])
  time.ms += 59_999
  expect(allowed('a', 1)).toBe(0)
  time.ms += 1
  expect(allowed('a', 100)).toBe(perMinute)
})

test('all services together are named so often, and forgotten with the minute', () => {
  const { time, allowed } = newLimit()
  const many = Array.from({ length: 10_000 }, (_, i) => String(i))
  const total = (): number => many.reduce((sum, key) => sum + allowed(key, 1), 0)
  expect(total()).toBe(reportLimits.inAllPerMinute)
  time.ms += 60_000
  expect(total()).toBe(reportLimits.inAllPerMinute)
})
