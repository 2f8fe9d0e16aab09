// Contract of fast paths. A new one gets its row in `shares` and all of these tests.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { firstPolicyCode } from '#bundle/format/routing-cells.ts'
import type { MemberModel } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { createRoutingState, isReady, rebuildPool } from '#routing/state/candidates.ts'
import { algorithmNamed, plainByCode, wayOfCode, ways } from '#routing/choose/ways.ts'
import { Family } from '#routing/state/query.ts'
import type { RoutingQuery } from '#routing/state/query.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { bundleOf, member, pool, service } from '#test/support/bundle-models.ts'
import type { RoutingWork } from '#test/support/routing-worker.ts'

type Members = readonly (string | MemberModel)[]

/** Pools with one service each; unhealthy members by their place in the table. */
function setUp(pools: readonly Members[], unhealthy: readonly number[] = []) {
  const bundle = bundleOf({
    zones: [{ name: 'test.', soa: zoneSoa, nsTtlSeconds: 1, nameservers: [] }],
    pools: pools.map((members, i) => pool(i + 1, members)),
    services: pools.map((_, i) => service(i + 1, `s${i}.test.`, { pool: i })),
  })
  const state = createRoutingState(bundle, 1)
  for (const row of unhealthy) state.memberHealthy[row % Math.max(1, bundle.counts.members)] = 0
  for (let row = 0; row < pools.length; row++) rebuildPool(bundle, state, row)
  return { bundle, state }
}

const zoneSoa = {
  mname: 'ns.test.',
  rname: 'root.test.',
  refreshSeconds: 1,
  retrySeconds: 1,
  expireSeconds: 1,
  minimumSeconds: 1,
  serialBase: 0,
  ttlSeconds: 1,
}
const queryOf = (poolIndex: number, family: Family): RoutingQuery => ({
  serviceIndex: poolIndex,
  poolIndex,
  family,
})
const families = [Family.V4, Family.V6] as const
const weights = [1, 2, 3, 4, 90]
const draws = 1_000_000

/** The share of the answers that each of five members must get, whose weights are `weights`. */
const shares: Readonly<
  Record<string, { readonly expected: readonly number[]; readonly isExact: boolean }>
> = {
  'round-robin': { expected: [0.2, 0.2, 0.2, 0.2, 0.2], isExact: true },
  'weighted-round-robin': { expected: [0.01, 0.02, 0.03, 0.04, 0.9], isExact: false },
  // Priorities in the test are 0, 3, 2, 2, 5: the first of the two that have 2.
  failover: { expected: [0, 0, 1, 0, 0], isExact: true },
}
const priorities = [0, 3, 2, 2, 5]

const plainWays = ways.flatMap(({ name, plain }) => (plain ? [{ name, plain }] : []))

describe('the fast paths', () => {
  test('are found by code, and none has the code of another', () => {
    for (const { name, plain } of plainWays) {
      expect(plain.code >= 0 && plain.code < firstPolicyCode).toBe(true)
      expect(plainByCode[plain.code]).toBe(plain)
      expect(wayOfCode(plain.code)?.name).toBe(name)
    }
    expect(wayOfCode(firstPolicyCode)).toBeUndefined()
  })

  test('never give a code to another way: bundles on disk hold them', () => {
    expect(plainWays.map(({ name, plain: { code } }) => [code, name])).toEqual([
      [0, 'round-robin'],
      [1, 'weighted-round-robin'],
      [2, 'failover'],
    ])
  })

  test('have a row of expected shares each', () => {
    expect(Object.keys(shares).sort()).toEqual(plainWays.map(({ name }) => name).sort())
  })
})

describe.each(plainWays.map(({ name, plain }) => [name, plain] as const))('%s', (name, plain) => {
  const isWeighted = ways.find((way) => way.name === name)!.weightAs === 'share'

  test('picks only candidates of its pool and family, and -1 when there are none', () => {
    const anyMember = fc
      .record({
        ipAddress: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'),
        weight: fc.constantFrom(0, 1, 7, 1_000_000),
        priority: fc.nat(3),
        enabled: fc.boolean(),
      })
      .map((parts) => member(parts.ipAddress, parts))
    const pools = fc.array(fc.array(anyMember, { maxLength: 6 }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(pools, fc.array(fc.nat(20)), fc.nat(), (members, unhealthy, seed) => {
        const { bundle, state } = setUp(members, unhealthy)
        const random = new Random(seed)
        for (const [row, family] of members.flatMap((_, i) =>
          families.map((f) => [i, f] as const),
        )) {
          const start =
            bundle.poolMemberStart[row]! + (family === Family.V6 ? bundle.poolCount4[row]! : 0)
          const size = (family === Family.V4 ? bundle.poolCount4 : bundle.poolCount6)[row]!
          const all = Array.from({ length: size }, (_, i) => start + i)
          const candidates = all.filter(
            (one) => isReady(bundle, state, one) && (!isWeighted || state.memberWeight[one]! > 0),
          )
          for (let i = 0; i < 10; i++) {
            const picked = plain.select(state, queryOf(row, family), random)
            if (candidates.length === 0) expect(picked).toBe(-1)
            else expect(candidates).toContain(picked)
          }
        }
      }),
    )
  })

  test('gives each member its share of a million answers', () => {
    const { expected, isExact } = shares[name]!
    const members = weights.map((weight, i) =>
      member(`192.0.2.${i}`, { weight, priority: priorities[i]! }),
    )
    const { state } = setUp([members])
    const query = queryOf(0, Family.V4)
    const random = new Random(7)
    const picks = Array<number>(weights.length).fill(0)
    for (let i = 0; i < draws; i++) picks[plain.select(state, query, random)]! += 1
    for (const [i, share] of expected.entries()) {
      // Five standard deviations: one run in a million would fail, and the seed is fixed.
      const slack = isExact ? 0 : 5 * Math.sqrt(draws * share * (1 - share))
      expect(Math.abs(picks[i]! - draws * share)).toBeLessThanOrEqual(slack)
    }
  })

  test('gives a member of weight 0 nothing if it goes by weight, else its turn', () => {
    const { state } = setUp([[member('192.0.2.1', { weight: 0, priority: 1 }), '192.0.2.2']])
    const random = new Random(11)
    const picks = Array.from({ length: 100 }, () =>
      plain.select(state, queryOf(0, Family.V4), random),
    )
    expect(picks.includes(0)).toBe(!isWeighted)
    const none = setUp([[member('192.0.2.1', { weight: 0 })]])
    expect(plain.select(none.state, queryOf(0, Family.V4), random)).toBe(isWeighted ? -1 : 0)
  })

  test('answers the same again from the same state and seed', () => {
    const sequence = (): number[] => {
      const { state } = setUp([weights.map((weight, i) => member(`192.0.2.${i}`, { weight }))])
      const random = new Random(99)
      return Array.from({ length: 1_000 }, () => plain.select(state, queryOf(0, Family.V4), random))
    }
    expect(sequence()).toEqual(sequence())
  })

  test('keeps the shares of one family apart from the queries of the other', () => {
    const { state } = setUp([['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2']])
    const picksOf = (isMixed: boolean): number[] => {
      const fresh = setUp([['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2']])
      return Array.from({ length: 1_000 }, (_, i) => {
        if (isMixed) plain.select(fresh.state, queryOf(0, Family.V6), new Random(i))
        return plain.select(fresh.state, queryOf(0, Family.V4), new Random(i))
      })
    }
    expect(picksOf(true)).toEqual(picksOf(false))
    expect(plain.select(state, queryOf(0, Family.V6), new Random(1))).toBeGreaterThanOrEqual(2)
  })

  test('sees a member leave and come back with the next query', () => {
    const { bundle, state } = setUp([['192.0.2.1', '192.0.2.2']])
    const random = new Random(5)
    const seen = (): Set<number> =>
      new Set(Array.from({ length: 200 }, () => plain.select(state, queryOf(0, Family.V4), random)))
    const before = seen()
    state.memberHealthy[0] = 0
    rebuildPool(bundle, state, 0)
    expect(seen()).toEqual(new Set([1]))
    state.memberHealthy[1] = 0
    rebuildPool(bundle, state, 0)
    expect(seen()).toEqual(new Set([-1]))
    state.memberHealthy.fill(1)
    rebuildPool(bundle, state, 0)
    expect(seen()).toEqual(before)
  })

  test('never meets a list half written while another thread rebuilds it', async () => {
    const neighbour = ['203.0.113.1', '203.0.113.2']
    const members = Array.from({ length: 8 }, (_, i) => member(`192.0.2.${i}`, { weight: i + 1 }))
    const { bundle, state } = setUp([neighbour, members, neighbour])
    // Lists of five and of two members by turns; member 7 is never among them.
    const healthy = [
      [0, 1, 2, 3, 4],
      [5, 6],
    ]
    const first = bundle.poolMemberStart[1]!
    state.memberHealthy[first + 7] = 0
    rebuildPool(bundle, state, 1)
    const worker = await startWorker(bundle, state, { kind: 'rebuild', pool: 1, healthy })
    worker.begin()
    const query = queryOf(1, Family.V4)
    const random = new Random(3)
    const allowed = (picked: number): boolean => picked >= first && picked < first + 7
    // Where the other thread gets no turn for a while, nothing can be met.
    const untilMs = performance.now() + 60_000
    for (let i = 0; i < 400_000 || worker.rebuilds() <= 100; i++) {
      const picked = plain.select(state, query, random)
      if (!allowed(picked)) expect.fail(`draw ${i} gave ${picked}`)
      if (i % 100_000 === 0 && performance.now() > untilMs) break
    }
    expect(await worker.end()).toBeGreaterThan(100)
  })

  test('allocates nothing', () => {
    const { state } = setUp([weights.map((weight, i) => member(`192.0.2.${i}`, { weight }))])
    const query = queryOf(0, Family.V4)
    const random = new Random(11)
    const repeat = (times: number): void => {
      for (let i = 0; i < times; i++) plain.select(state, query, random)
    }
    expect(allocatedBytesPerCall(repeat, 50_000)).toBeLessThan(0.05)
  })
})

test('round robin gives two threads turns of one rotation', async () => {
  const { bundle, state } = setUp([['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']])
  const query = queryOf(0, Family.V4)
  const task = { kind: 'draw', algorithm: 'round-robin', query, draws: 200_000 } as const
  const threads = await Promise.all([
    startWorker(bundle, state, task),
    startWorker(bundle, state, task),
  ])
  for (const thread of threads) thread.begin()
  const [one, other] = (await Promise.all(threads.map((thread) => thread.end()))) as [
    number[],
    number[],
  ]
  expect(one.map((count, i) => count + other[i]!)).toEqual([100_000, 100_000, 100_000, 100_000])
})

test('round robin goes on in order when its counter wraps around', () => {
  const { state } = setUp([['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']])
  state.serviceCursor[0] = -2
  const random = new Random(1)
  const picks = Array.from({ length: 6 }, () =>
    algorithmNamed('round-robin')!.plain!.select(state, queryOf(0, Family.V4), random),
  )
  expect(picks).toEqual([2, 3, 0, 1, 2, 3])
})

/** A thread that waits for `begin`; `end` gives what it came to. */
async function startWorker(
  bundle: ReturnType<typeof setUp>['bundle'],
  state: ReturnType<typeof setUp>['state'],
  task: RoutingWork['task'],
) {
  const signal = new SharedArrayBuffer(8)
  const cell = new Int32Array(signal)
  const { bytes, digest } = bundle
  const workerData: RoutingWork = { bundle: bytes, digest, buffers: state.buffers, signal, task }
  const worker = new Worker(new URL('../support/routing-worker.ts', import.meta.url), {
    workerData,
  })
  onTestFinished(async () => void (await worker.terminate()))
  await once(worker, 'message')
  const result = once(worker, 'message')
  const set = (value: number): void => {
    Atomics.store(cell, 0, value)
    Atomics.notify(cell, 0)
  }
  return {
    begin: () => set(1),
    rebuilds: () => Atomics.load(cell, 1),
    end: async (): Promise<unknown> => {
      if (task.kind === 'rebuild') set(2)
      return ((await result) as [unknown])[0]
    },
  }
}
