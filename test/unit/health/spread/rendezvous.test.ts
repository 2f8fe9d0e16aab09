import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countBefore, memberHash, rankedNode } from '#health/spread/rendezvous.ts'

/** The nodes of `names` that probe a member, as each of them finds by itself. */
function probersOf(key: string, names: readonly string[], count: number): readonly string[] {
  const nodes = names.map(rankedNode)
  return nodes
    .filter((own) => {
      const others = nodes.filter((one) => one !== own)
      return countBefore(own, others, memberHash(key)) < count
    })
    .map(({ name }) => name)
    .sort()
}

const members = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `0191f7a4-${i} 10.${i >> 8}.${i & 255}.1`)

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), {
  minLength: 1,
  maxLength: 12,
})

describe('the nodes that probe a member', () => {
  test('are as many as asked for, or all, whatever they are called', () => {
    fc.assert(
      fc.property(names, fc.string(), fc.integer({ min: 1, max: 15 }), (nodes, key, count) => {
        expect(probersOf(key, nodes, count).length).toBe(Math.min(count, nodes.length))
      }),
    )
  })

  test('are the same, in whatever order the nodes are known', () => {
    fc.assert(
      fc.property(names, fc.string(), fc.integer({ min: 1, max: 4 }), (nodes, key, count) => {
        expect(probersOf(key, [...nodes].reverse(), count)).toEqual(probersOf(key, nodes, count))
      }),
    )
  })

  test('change by one when a node goes, and only where it was one of them', () => {
    fc.assert(
      fc.property(names, fc.string(), fc.integer({ min: 1, max: 4 }), (nodes, key, count) => {
        const [gone, ...rest] = nodes
        const before = probersOf(key, nodes, count)
        const after = probersOf(key, rest, count)
        const kept = before.filter((name) => name !== gone)
        expect(after).toEqual(expect.arrayContaining([...kept]))
        if (!before.includes(gone!)) expect(after).toEqual(before)
      }),
    )
  })
})

test.each([
  [2, 1],
  [5, 2],
  [50, 3],
])('each of %i nodes probes its part of 10,000 members, with %i for each', (nodeCount, count) => {
  const nodes = Array.from({ length: nodeCount }, (_, i) => rankedNode(`dns-${i}.fra1`))
  const hashes = members(10_000).map(memberHash)
  const fair = (10_000 * count) / nodeCount
  // Six times what chance alone makes of it.
  const tolerance = 6 * Math.sqrt(fair)
  for (const own of nodes) {
    const others = nodes.filter((one) => one !== own)
    const share = hashes.filter((hash) => countBefore(own, others, hash) < count).length
    expect(Math.abs(share - fair)).toBeLessThan(tolerance)
  }
})

test('names whose hashes are equal are told apart by themselves', () => {
  const [a, b] = [
    { name: 'a', hash: 7 },
    { name: 'b', hash: 7 },
  ]
  expect([countBefore(a, [b], 1), countBefore(b, [a], 1)]).toEqual([0, 1])
})
