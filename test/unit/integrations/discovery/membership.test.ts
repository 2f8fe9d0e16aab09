// Which found members are answered: what vanishes waits, and too much at once is held.
import { describe, expect, test } from 'vitest'
import { Membership } from '#integrations/discovery/membership.ts'

const addresses = (count: number, first = 1): ReadonlyMap<string, number> =>
  new Map(Array.from({ length: count }, (_, i) => [`192.0.2.${first + i}`, 1]))

const rules = { maxRemoved: 0.5, removeAfterMs: 10_000 }

describe('a share of the members vanishes at once', () => {
  const rows: readonly (readonly [what: string, before: number, found: number, left: number])[] = [
    ['none of them', 10, 10, 10],
    ['half of them, the most that may', 10, 5, 5],
    ['one more than may', 10, 4, 10],
    ['all of them', 10, 0, 10],
    ['one of two', 2, 1, 1],
    ['the only one', 1, 0, 1],
    ['none, where there were none', 0, 0, 0],
  ]
  test.each(rows)('%s: of %i, where %i are found, %i stay', (_, before, found, left) => {
    const members = new Membership(rules, new Map())
    members.take(1_000, addresses(before))
    members.take(2_000, addresses(found))
    members.take(60_000)
    expect(members.members.size).toBe(left)
    expect(members.held !== null).toBe(left > found)
  })
})

test('all members never vanish by themselves, whatever the settings permit', () => {
  const members = new Membership({ ...rules, maxRemoved: 1 }, addresses(3))
  members.take(1_000, new Map())
  members.take(1e9)
  expect(members.members.size).toBe(3)
  expect(members.held).toEqual({ missing: 3, members: 3, sinceMs: 1_000 })
})

test('a member that flaps stays, and one that is missing for long enough goes', () => {
  const members = new Membership(rules, addresses(3))
  members.take(1_000, addresses(2))
  expect(members.nextMs).toBe(11_000)
  members.take(9_000, addresses(3))
  expect(members.nextMs).toBe(Infinity)
  members.take(10_000, addresses(2))
  members.take(19_999)
  expect(members.members.size).toBe(3)
  members.take(20_000)
  expect([...members.members.keys()]).toEqual(['192.0.2.1', '192.0.2.2'])
})

test('as many others in the place of all are no loss', () => {
  const members = new Membership(rules, addresses(4))
  members.take(1_000, addresses(4, 101))
  expect(members.members.size).toBe(8)
  members.take(11_000)
  expect([...members.members.keys()]).toEqual([...addresses(4, 101).keys()])
})

test('what is held is let go when a person says so, or when it is found again', () => {
  const members = new Membership(rules, addresses(10))
  members.take(1_000, addresses(2))
  members.take(2_000, addresses(8))
  expect(members.held).toBeNull()
  members.take(3_000, addresses(1))
  expect(members.accept()).toBe(true)
  expect([...members.members.keys()]).toEqual(['192.0.2.1'])
  expect(members.accept()).toBe(false)
})

test('members that come while others are held are answered at once, with their weights', () => {
  const members = new Membership(rules, addresses(4))
  members.take(1_000, new Map([['192.0.2.200', 7]]))
  expect(members.members.get('192.0.2.200')).toBe(7)
  expect(members.members.size).toBe(5)
})
