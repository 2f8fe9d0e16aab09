// Which found members are answered: what vanishes waits, and too much at once is held.
import { describe, expect, test } from 'vitest'
import { Membership } from '#integrations/discovery/membership.ts'

const addresses = (count: number, first = 1): ReadonlyMap<string, number> =>
  new Map(Array.from({ length: count }, (_, i) => [`192.0.2.${first + i}`, 1]))

const rules = { maxRemoved: 0.5, removeAfterMs: 10_000, intervalMs: 30_000 }

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

test('a member that is missing goes in time, also when the clock is set back by years', () => {
  const members = new Membership(rules, addresses(3))
  members.take(1e11 + 1_000, addresses(2))
  members.take(5_000)
  expect(members.nextMs).toBe(15_000)
  members.take(15_000)
  expect(members.members.size).toBe(2)
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

describe('members are replaced, again and again', () => {
  const rows: readonly (readonly [what: string, steps: readonly number[], maxRemoved: number])[] = [
    ['by one fewer', [4, 3], 0.5],
    ['one for one, where few may vanish', [4, 4, 4], 0.1],
    ['twice, within the time that a missing one has', [6, 6, 5, 5], 0.5],
    ['by more, and then by as many', [3, 6, 6], 0.5],
  ]
  test.each(rows)('%s (%j): none are held, and the last stay', (_, steps, maxRemoved) => {
    const members = new Membership({ ...rules, maxRemoved }, new Map())
    for (const [i, count] of steps.entries()) {
      members.take(1_000 + 4_000 * i, addresses(count, 1 + 20 * i))
      expect(members.held).toBeNull()
    }
    const lastMs = 1_000 + 4_000 * (steps.length - 1)
    members.take(lastMs + 9_999)
    expect(members.members.size).toBe(steps.at(-1)! + steps.at(-2)!)
    members.take(lastMs + 10_000)
    const wanted = addresses(steps.at(-1)!, 1 + 20 * (steps.length - 1))
    expect([...members.members.keys()]).toEqual([...wanted.keys()])
    expect(members.nextMs).toBe(Infinity)
  })
})

test('several small losses within the time that a missing one has are one large one', () => {
  const members = new Membership(rules, addresses(10))
  members.take(1_000, addresses(6))
  members.take(5_000, addresses(4))
  expect(members.held).toMatchObject({ missing: 2, members: 10 })
  members.take(11_000)
  expect([...members.members.keys()]).toEqual([...addresses(6).keys()])
  members.take(60_000, addresses(4))
  expect(members.held).toEqual({ missing: 2, members: 6, sinceMs: 5_000 })
  members.take(61_000, addresses(5))
  expect(members.held).toBeNull()
})

test('members that one answer alone has go when the next is as before', () => {
  const members = new Membership(rules, new Map())
  members.take(1_000, addresses(3))
  members.take(31_000, addresses(60, 101))
  members.take(61_000, addresses(3))
  expect(members.held).toBeNull()
  members.take(71_000)
  expect([...members.members.keys()]).toEqual([...addresses(3).keys()])
})

test('members that came long ago count as those before them', () => {
  const members = new Membership(rules, addresses(3))
  members.take(1_000, addresses(60))
  members.take(31_000, addresses(60))
  members.take(61_000, addresses(3))
  expect(members.held).toMatchObject({ missing: 57, members: 60 })
})

test('no more are held than there were, however often others come meanwhile', () => {
  const members = new Membership(rules, addresses(10))
  members.take(1_000, addresses(2, 201))
  for (let i = 1; i < 50; i++) members.take(i * 60_000, addresses(1 + (i % 3), (i % 8) * 20 + 20))
  expect(members.held!.missing).toBeLessThanOrEqual(10)
  expect(members.members.size).toBeLessThanOrEqual(13)
})
