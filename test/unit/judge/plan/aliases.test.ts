// Aliases to services whose members are aliases themselves, and aliases that pass a DNAME.
import { describe, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { encodeName } from '#test/support/dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { printPlan } from '#judge/print/text.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { planBetween } from '#test/support/plans.ts'

const record = (type: number, name: string, rdata: Uint8Array) => ({
  ...{ name, zone: 0, type, ttlSeconds: 60 },
  rdata: [rdata],
})
const named = (weights: Readonly<Record<string, number>>) =>
  pool(
    1,
    Object.entries(weights).map(([host, weight]) =>
      member('', { hostname: `${host}.cdn.net.`, weight }),
    ),
    { answer: 'cname' },
  )
const model = (weights: Readonly<Record<string, number>>): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [named(weights)],
  services: [
    service(1, 'turns.example.org.'),
    service(2, 'dice.example.org.', { algorithm: 'weighted-round-robin' }),
    service(3, 'network.example.org.', { filterChain: ['sticky'] }),
    service(4, '*.wild.example.org.', { algorithm: 'weighted-round-robin' }),
  ],
  rrsets: [
    record(RrType.CNAME, 'to-turns.example.org.', encodeName('turns.example.org.')),
    record(RrType.CNAME, 'to-dice.example.org.', encodeName('dice.example.org.')),
    record(RrType.CNAME, 'twice.example.org.', encodeName('to-dice.example.org.')),
    record(RrType.CNAME, 'to-network.example.org.', encodeName('network.example.org.')),
    record(RrType.CNAME, 'to-wild.example.org.', encodeName('x.wild.example.org.')),
    record(RrType.DNAME, 'old.example.org.', encodeName('wild.example.org.')),
    record(RrType.CNAME, 'below.example.org.', encodeName('x.old.example.org.')),
  ],
})

const movedBy = (base: BundleModel, head: BundleModel): Readonly<Record<string, number>> => {
  const changes = planBetween(base, head).scenarios[0]!.changes.filter(({ type }) => type === 'A')
  return Object.fromEntries(
    changes.map(({ name, movement }) => [
      name.replace('.example.org.', ''),
      Math.round((movement?.ipv4.moved ?? 0) * 1_000) / 10,
    ]),
  )
}

test('an alias to a service moves the clients that the service moves', () => {
  const moved = movedBy(model({ a: 3, b: 1, c: 1 }), model({ a: 1, b: 1, d: 2 }))
  expect(moved).toMatchObject({ turns: 33.3, dice: 55, '*.wild': 55 })
  expect(moved['network']).toBeGreaterThan(0)
  expect(moved).toMatchObject({
    'to-turns': moved['turns'],
    'to-dice': moved['dice'],
    'to-network': moved['network'],
    twice: moved['dice'],
    'to-wild': moved['dice'],
    below: moved['dice'],
  })
})

test('a small change of weights is seen through an alias', () => {
  const moved = movedBy(model({ a: 3, b: 1 }), model({ a: 30, b: 11 }))
  expect(moved).toMatchObject({ dice: 1.8, 'to-dice': 1.8 })
})

// 3/4 - 30/41 is not the same number in sums of other lengths.
test('a family that moves alike is told once', () => {
  const plan = planBetween(model({ a: 3, b: 1 }), model({ a: 30, b: 11 }))
  const text = printPlan(plan, { style: (_, words) => words, answersMax: 99 })
  expect(text).toContain('1.8 %  a.cdn.net. (pool-1) → b.cdn.net. (pool-1)')
  expect(text).not.toContain('IPv6')
})

test('the alias itself is told, and not what its service chose', () => {
  const { changes } = planBetween(model({ a: 1, b: 1 }), model({ a: 1, c: 1 })).scenarios[0]!
  const alias = changes.find(({ name, type }) => name.startsWith('twice') && type === 'A')
  expect(alias!.before.records).toEqual([
    'twice.example.org. 60 IN CNAME to-dice.example.org.',
    'to-dice.example.org. 60 IN CNAME dice.example.org.',
  ])
  expect(alias!.movement!.ipv4.members.map((one) => one.member).sort()).toEqual([
    'a.cdn.net.',
    'b.cdn.net.',
    'c.cdn.net.',
  ])
})

describe('a DNAME', () => {
  const address = (name: string, last: number) =>
    record(RrType.A, name, Uint8Array.of(192, 0, 2, last))
  const moving = (target: string, last = 51): BundleModel => ({
    ...bareModel,
    zones: [zone('example.org.')],
    rrsets: [
      record(RrType.CNAME, 'alias.example.org.', encodeName('x.dn.example.org.')),
      record(RrType.DNAME, 'dn.example.org.', encodeName(target)),
      address('x.t1.example.org.', last),
      address('x.t2.example.org.', 52),
    ],
  })
  test.each([
    ['that leads elsewhere', moving('t2.example.org.')],
    ['to a name that changes', moving('t1.example.org.', 53)],
  ])('%s moves who comes by an alias', (_, head) => {
    expect(movedBy(moving('t1.example.org.'), head)).toMatchObject({ alias: 100 })
  })

  test('that goes round ends', () => {
    const round = moving('dn.example.org.')
    expect(movedBy(round, moving('t1.example.org.'))).toMatchObject({ alias: 100 })
  })
})
