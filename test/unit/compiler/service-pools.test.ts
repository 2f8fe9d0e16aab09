import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ServicePools } from '#compiler/tree/service-pools.ts'

const pool = (name: string) => ({ object: { metadata: { name } } })
const service = (name: string | null) => ({ object: { spec: { pool: name } } })
type Pool = ReturnType<typeof pool>
type Service = ReturnType<typeof service>

function firstNamed(pools: readonly Pool[]): ReadonlyMap<string, Pool> {
  return new Map(pools.toReversed().map((one) => [one.object.metadata.name, one]))
}

function anew(services: readonly Service[], pools: readonly Pool[]): (Pool | undefined)[] {
  const named = firstNamed(pools)
  return services.map(({ object: { spec } }) =>
    spec.pool === null ? undefined : named.get(spec.pool),
  )
}

const [a, b, otherA] = [pool('a'), pool('b'), pool('a')]
const [asksA, asksB, asksNone] = [service('a'), service('b'), service(null)]

test.each<[string, [Service[], Pool[]], [Service[], Pool[]]]>([
  [
    'nothing changes',
    [
      [asksA, asksB],
      [a, b],
    ],
    [
      [asksA, asksB],
      [a, b],
    ],
  ],
  [
    'a pool comes',
    [[asksA, asksB], [a]],
    [
      [asksA, asksB],
      [a, b],
    ],
  ],
  [
    'a pool goes',
    [
      [asksA, asksB],
      [a, b],
    ],
    [[asksA, asksB], [b]],
  ],
  [
    'a pool is another one',
    [
      [asksA, asksB],
      [a, b],
    ],
    [
      [asksA, asksB],
      [otherA, b],
    ],
  ],
  ['a pool comes before one of its name', [[asksA], [a]], [[asksA], [otherA, a]]],
  ['the first of two pools goes', [[asksA], [otherA, a]], [[asksA], [a]]],
  [
    'a service comes',
    [[asksA], [a, b]],
    [
      [asksNone, asksA, asksB],
      [a, b],
    ],
  ],
  [
    'a service goes',
    [
      [asksNone, asksA, asksB],
      [a, b],
    ],
    [[asksB], [a, b]],
  ],
  [
    'a service asks another pool',
    [
      [asksA, asksA],
      [a, b],
    ],
    [
      [asksA, asksB],
      [a, b],
    ],
  ],
])('services have their pools when %s', (_, before, now) => {
  const memory = new ServicePools<Pool>()
  for (const [services, pools] of [before, now]) {
    expect(memory.of(services, pools, firstNamed(pools))).toEqual(anew(services, pools))
  }
})

test('from tree to tree each service has the first pool of its name', () => {
  const names = ['a', 'b', 'c']
  const pools = names.flatMap((name) => [pool(name), pool(name), pool(name)])
  const services = [...names, 'none', null].flatMap((name) => [service(name), service(name)])
  const tree = fc.tuple(fc.subarray(services), fc.subarray(pools))
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 12 }), (trees) => {
      const memory = new ServicePools<Pool>()
      for (const [some, others] of trees) {
        const found = memory.of(some, others, firstNamed(others))
        const wanted = anew(some, others)
        expect(found.length).toBe(wanted.length)
        expect(found.every((one, i) => one === wanted[i])).toBe(true)
      }
    }),
  )
})
