import { describe, expect, test } from 'vitest'
import { Random } from '#lib/random.ts'

const draws = (random: Random, count: number, bound: number): number[] =>
  Array.from({ length: count }, () => random.below(bound))

describe('a seeded generator', () => {
  test('gives the same stream for the same seed, on any machine', () => {
    const random = new Random(42)
    expect([random.next(), random.next(), random.next()]).toEqual(pinned)
    expect(draws(new Random(7), 50, 1_000)).toEqual(draws(new Random(7), 50, 1_000))
  })

  test('gives unrelated streams for neighbouring seeds', () => {
    const firsts = Array.from({ length: 1_000 }, (_, seed) => new Random(seed).next())
    expect(new Set(firsts).size).toBe(1_000)
    const same = draws(new Random(1), 10_000, 16).filter(
      (value, i) => value === draws16OfSeed2[i],
    ).length
    // A sixteenth agrees by chance: 625, with a standard deviation of 24.
    expect(Math.abs(same - 625)).toBeLessThan(150)
  })

  test('draws unsigned words of 32 bits', () => {
    const random = new Random(3)
    for (let i = 0; i < 10_000; i++) {
      const word = random.next()
      expect(Number.isInteger(word) && word >= 0 && word <= 0xffff_ffff).toBe(true)
    }
  })

  test('sets each bit half of the time', () => {
    const random = new Random(5)
    const set = new Array<number>(32).fill(0)
    for (let i = 0; i < 20_000; i++) {
      const word = random.next()
      for (let bit = 0; bit < 32; bit++) set[bit]! += (word >>> bit) & 1
    }
    // Standard deviation 71.
    for (const count of set) expect(Math.abs(count - 10_000)).toBeLessThan(400)
  })
})

describe('a number below a bound', () => {
  test('is always 0 for 1', () => {
    expect(new Set(draws(new Random(9), 1_000, 1))).toEqual(new Set([0]))
  })

  test('stays below the largest bound', () => {
    for (const value of draws(new Random(9), 10_000, 2 ** 32)) {
      expect(Number.isInteger(value) && value >= 0 && value < 2 ** 32).toBe(true)
    }
  })

  test.each([2, 3, 7, 10, 100])('falls on each of %i values equally often', (bound) => {
    const count = 20_000
    const seen = new Array<number>(bound).fill(0)
    for (const value of draws(new Random(11), count, bound)) seen[value]! += 1
    const expected = count / bound
    const chiSquared = seen.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
    // Mean bound - 1, variance 2 (bound - 1); the seed is fixed, so the outcome is as well.
    expect(chiSquared).toBeLessThan(bound - 1 + 5 * Math.sqrt(2 * (bound - 1)) + 5)
  })
})

const draws16OfSeed2 = draws(new Random(2), 10_000, 16)
/** Values of an independent implementation of xoshiro128** seeded by SplitMix32. */
const pinned = [660444221, 3652823732, 77672526]
