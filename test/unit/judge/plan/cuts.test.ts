// Two cuts of the addresses, laid over each other.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { overlay } from '#judge/clients/cuts.ts'
import type { Address, Cut } from '#judge/clients/cuts.ts'

/** Addresses that a cut of the property has. */
const space = 64

/** @param step from a value to the next one */
const cutOf = <A extends Address>(
  starts: readonly number[],
  address: (at: number) => A,
  step: number,
): Cut<A> => {
  const sorted = [...new Set([0, ...starts])].sort((one, other) => one - other)
  return {
    starts: sorted.map(address),
    // Neighbours differ or do not.
    valueOf: Uint32Array.from(sorted, (_, row) => ((row * 7) % 3) * step),
    values: 2 * step + 1,
    rowOf: [],
  }
}

const rowAt = (starts: ArrayLike<Address>, at: Address): number => {
  let row = 0
  while (row + 1 < starts.length && starts[row + 1]! <= at) row++
  return row
}

const some = fc.array(fc.nat(space - 1), { maxLength: space })

test.each([
  ['IPv4', (at: number): Address => at, 1],
  ['IPv6', (at: number): Address => BigInt(at) << 100n, 1],
  ['IPv4, of many values,', (at: number): Address => at, 2_000],
])('each address of %s has the values of both; neighbours alike are one', (_, address, step) => {
  fc.assert(
    fc.property(some, some, (first, second) => {
      const [one, two] = [cutOf(first, address, step), cutOf(second, address, step)]
      const both = overlay<Address>(one, two)
      for (let at = 0; at < space; at++) {
        const value = both.valueOf[rowAt(both.starts, address(at))]!
        expect(both.ofOne[value]).toBe(one.valueOf[rowAt(one.starts, address(at))])
        expect(both.ofTwo[value]).toBe(two.valueOf[rowAt(two.starts, address(at))])
      }
      expect(both.valueOf).toHaveLength(both.starts.length)
      expect(both.ofOne).toHaveLength(both.values)
      // A table of one row is not walked, and its other one is as it was.
      if (two.starts.length === 1) return
      for (let row = 1; row < both.starts.length; row++) {
        expect(both.valueOf[row]).not.toBe(both.valueOf[row - 1])
      }
    }),
  )
})
