// Positions of pools in the model, while pools come and go.
import { expect, test } from 'vitest'
import { PoolSlots } from '#compiler/lower/pool-slots.ts'
import type { Entry } from '#compiler/tree/tree.ts'

type Pool = Entry<'Pool'>

const made = (name: string): Pool => ({ object: { metadata: { name } } }) as unknown as Pool
const known = new Map(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, made(name)]))
/** The same object for each name; a capital letter is another file of that name. */
const poolsOf = (names: string): Pool[] =>
  Array.from(names, (name) => known.get(name) ?? made(name.toLowerCase()))

test.each<[what: string, names: string, placed: string]>([
  ['nothing changes', 'bcde', 'bcde'],
  ['one says something else', 'bCde', 'bcde'],
  ['a new one is first among the paths', 'abcde', 'bcdea'],
  ['one takes the place of another', 'bcdf', 'bcdf'],
  ['one goes from the middle', 'bde', 'bed'],
  ['the last one goes', 'bcd', 'bcd'],
  ['the first and the last go', 'cd', 'dc'],
  ['two go, and one comes', 'acd', 'acd'],
  ['all go', '', ''],
])('%s', (_, names, placed) => {
  const slots = new PoolSlots()
  slots.place(poolsOf('bcde'))
  expect(slots.place(poolsOf(names))).toBe(true)
  const now = slots.placed.map(({ object }) => object.metadata.name)
  expect(now.join('')).toBe(placed)
  expect([...slots.at].sort()).toEqual(Array.from(now, (name, at) => [name, at]).sort())
})

test('when nearly all are others, positions of before say nothing', () => {
  const slots = new PoolSlots()
  slots.place(poolsOf('a'))
  const many = Array.from({ length: 20 }, (_, i) => made(`pool${i}`))
  expect(slots.place(many)).toBe(false)
  expect(slots.placed).toEqual(many)
})
