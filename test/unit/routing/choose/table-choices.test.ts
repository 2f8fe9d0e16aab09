// Tests the cache of choices by a table: by pool, policy and family, until the candidates change.
import { expect, test } from 'vitest'
import { Family } from '#routing/state/query.ts'
import { ChoiceMemory } from '#routing/choose/choice-memory.ts'
import { TableChoices } from '#routing/choose/table-choices.ts'
import { bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'

const values = 300
const chain = { filterChain: ['geo-ip'] }
const pools = [
  pool(1, [member('192.0.2.1'), member('192.0.2.2'), member('2001:db8::1')]),
  pool(2, [member('192.0.2.3')]),
]
const bundle = bundleOf({
  zones: [zone('test.')],
  pools,
  services: [
    service(1, 'a.test.', { ...chain, pool: 0 }),
    service(2, 'b.test.', { ...chain, pool: 0 }),
    service(3, 'c.test.', { ...chain, pool: 1 }),
    service(4, 'd.test.', { ...chain, pool: 0, onAllDown: 'all' }),
    service(5, 'e.test.', { pool: 0 }),
  ],
})
const [a, b, c, d, plain] = [0, 1, 2, 3, 4] as const

const choicesOf = (memory?: ChoiceMemory): TableChoices =>
  new TableChoices(
    bundle,
    new Map([
      [0, values],
      [1, values],
    ]),
    memory,
  )
const open = (
  choices: TableChoices,
  one: number,
  version = 1,
  family: Family = Family.V4,
): boolean => choices.open(one, family, version, values)

test('a value is unknown until it is learned, then it has its kind, action and member', () => {
  const choices = choicesOf()
  expect(open(choices, a)).toBe(true)
  expect(choices.kindOf(299)).toBe(0)
  const kind = choices.learn(299, -7, 2)
  expect(choices.member(kind)).toBe(-1)
  choices.keepMember(kind, 0)
  expect(choices.learn(5, -7, 2)).toBe(kind)
  expect(choices.learn(6, 8, 2)).not.toBe(kind)
  expect([choices.kindOf(299), choices.kindOf(5)]).toEqual([kind, kind])
  expect([choices.action(kind), choices.member(kind), choices.candidates()]).toEqual([-7, 0, 2])
})

test.each([
  ['a service of the same pool and policy knows the same', b, Family.V4, 1, true],
  ['another pool knows nothing of it', c, Family.V4, 1, false],
  ['another policy of the pool knows nothing of it', d, Family.V4, 1, false],
  ['the other family knows nothing of it', a, Family.V6, 1, false],
  ['other candidates make it unknown', a, Family.V4, 2, false],
] as const)('%s', (_name, one, family, version, isKnown) => {
  const choices = choicesOf()
  open(choices, a)
  const kind = choices.learn(17, 3, 2)
  choices.keepAlike(kind, 33)
  expect(open(choices, one, version, family)).toBe(true)
  expect(choices.kindOf(17) === kind).toBe(isKnown)
  expect(choices.learn(17, 3, 2)).toBe(kind)
  expect(choices.openGroups(kind, 1, 0b110)).toBe(isKnown ? 0b100 : 0b110)
})

test('choices in reused memory begin empty, and the earlier owner begins anew', () => {
  const memory = new ChoiceMemory()
  const one = choicesOf(memory)
  open(one, a)
  one.keepAlike(one.learn(17, 3, 2), 33)
  const { words } = memory
  const other = choicesOf(memory)
  expect(memory.words).toBe(words)
  for (const choices of [other, one]) {
    open(choices, a)
    expect(choices.kindOf(17)).toBe(0)
    const kind = choices.learn(17, 5, 2)
    expect([choices.action(kind), choices.member(kind)]).toEqual([5, -1])
    expect(choices.openGroups(kind, 1, 0b110)).toBe(0b110)
    choices.keepMember(kind, 1)
  }
})

test.each([
  ['goes by no table', plain, Family.V4],
  ['has no member of the family', c, Family.V6],
] as const)('a service that %s has no column', (_name, one, family) => {
  expect(open(choicesOf(), one, 1, family)).toBe(false)
})

test('a kind that finds no room is not known, and those before it stay', () => {
  const choices = choicesOf()
  open(choices, c)
  let kinds = 0
  while (kinds < values && choices.learn(kinds, kinds, 1) > 0) kinds++
  expect(kinds).toBeGreaterThanOrEqual(2)
  expect(kinds).toBeLessThan(values)
  expect(choices.kindOf(kinds)).toBe(0)
  for (let value = 0; value < kinds; value++) {
    expect(choices.action(choices.kindOf(value))).toBe(value)
  }
  open(choices, d)
  expect(choices.kindOf(0)).toBe(0)
})
