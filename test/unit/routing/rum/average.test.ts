// Averages of real-user measurements in 14 bits.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rumCodeMax, rumCodeOf, rumMsOf } from '#routing/rum/average.ts'

const latency = fc.double({ min: 1e-4, max: 60_000, noNaN: true })

test('an average is kept to a thousandth, and no order is turned round', () => {
  fc.assert(
    fc.property(latency, latency, (a, b) => {
      const [codeA, codeB] = [rumCodeOf(a), rumCodeOf(b)]
      expect(Math.abs(rumMsOf(codeA) - a)).toBeLessThanOrEqual(a / 1_000)
      if (a < b) expect(codeA).toBeLessThanOrEqual(codeB)
    }),
  )
})

test('each code is an average of its own, as a float of 32 bits holds it', () => {
  let before = 0
  for (let code = 0; code <= rumCodeMax; code++) {
    const ms = rumMsOf(code)
    expect([rumCodeOf(ms), Math.fround(ms) === ms, ms > before]).toEqual([code, true, true])
    before = ms
  }
})

test.each([
  [1e-9, 0],
  [1, 16 * 512],
  [32, 21 * 512],
  [65_535.9, rumCodeMax],
])('%f ms is code %i', (ms, code) => expect(rumCodeOf(ms)).toBe(code))
