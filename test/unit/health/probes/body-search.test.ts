import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodySearch } from '#health/probes/body-search.ts'
import type { SearchState } from '#health/probes/body-search.ts'

function feedAll(search: BodySearch, pieces: readonly Buffer[]): SearchState {
  for (const piece of pieces) {
    const state = search.feed(piece)
    if (state !== 'more') return state
  }
  return 'more'
}

test('finds what a search of the joined first bytes finds, however the body is cut', () => {
  const letter = fc.constantFrom('a', 'b', 'é')
  const text = fc.array(letter, { maxLength: 40 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(
      text,
      fc.array(letter, { minLength: 1, maxLength: 6 }).map((letters) => letters.join('')),
      fc.array(fc.nat({ max: 80 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 90 }),
      (body, needle, cuts, bytesMax) => {
        const bytes = Buffer.from(body)
        const ends = [
          ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b),
          bytes.length,
        ]
        const pieces = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
        const isThere = bytes.subarray(0, bytesMax).includes(needle)
        const state = feedAll(new BodySearch(needle, bytesMax), pieces)
        expect(state === 'found').toBe(isThere)
        if (!isThere) expect(state).toBe(bytes.length >= bytesMax ? 'capped' : 'more')
      },
    ),
    { numRuns: 2_000 },
  )
})
