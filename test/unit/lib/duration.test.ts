import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDuration } from '#lib/duration.ts'

describe('a duration', () => {
  const rows: readonly [string, number][] = [
    ['0', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
    ['1m0s', 60_000],
    ['0s', 0],
  ]
  test.each(rows)('%s is %i milliseconds', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, value: ms })
  })

  const refused = [
    ...['', '30', '-1s', '1 s', '1S', 's', '1.s', '.5s'],
    ...['1e3s', '1w', '5m ', '1h 30m', '00', 'ms5'],
  ]
  test.each(refused)('is not %j', (text) => {
    const parsed = parseDuration(text)
    expect(parsed.ok ? undefined : parsed.error).toBe(
      `"${text}" is not a duration; write a number with a unit, such as 500ms, 30s, 5m or 24h`,
    )
  })

  test('in whole units is their sum, however they are split', () => {
    const whole = fc.nat(10_000)
    fc.assert(
      fc.property(whole, whole, whole, (hours, minutes, seconds) => {
        expect(parseDuration(`${hours}h${minutes}m${seconds}s`)).toEqual({
          ok: true,
          value: hours * 3_600_000 + minutes * 60_000 + seconds * 1_000,
        })
      }),
    )
  })

  test('is a number from 0, or refused, for any text', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789.msdh') }))
    fc.assert(
      fc.property(text, (input) => {
        const parsed = parseDuration(input)
        if (parsed.ok) expect(parsed.value).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('is refused in time that grows with its length only', () => {
    const before = process.cpuUsage()
    expect(parseDuration('1'.repeat(50_000) + '!').ok).toBe(false)
    expect(parseDuration('1s'.repeat(50_000) + '!').ok).toBe(false)
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
  })
})
