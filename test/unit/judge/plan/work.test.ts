// How much a plan asks: of what differs, and not of what there is.
import { expect, test } from 'vitest'
import { networksFor } from '#judge/plan/plan.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { planBetween, workBetween } from '#test/support/plans.ts'

const ways = [['failover'], ['geo-ip', 'failover'], ['sticky'], ['round-robin']] as const
const changed = 100

/** @param last octet of the address of the first `changed` services */
function modelOf(services: number, last: number): BundleModel {
  const rows = Array.from({ length: services }, (_, i) => i)
  const address = (i: number, octet: number): string => `10.${i >> 8}.${i & 255}.${octet}`
  return {
    ...bareModel,
    zones: [zone('example.org.')],
    pools: rows.map((i) =>
      pool(i + 1, [
        member(address(i, i < changed ? last : 1), { region: 'DE', priority: 1 }),
        member(address(i, 200), { region: 'US', priority: 2 }),
      ]),
    ),
    services: rows.map((i) =>
      service(i + 1, `s${i}.example.org.`, { filterChain: ways[i % ways.length]!, pool: i }),
    ),
  }
}

/** Names that are compared, and clients that are asked, to plan the change of some services. */
function workOf(services: number) {
  const limits = { networksMax: 1_024 }
  const { names, asked, changes } = workBetween(modelOf(services, 1), modelOf(services, 2), {
    limits,
  })
  expect(new Set(changes.map(({ name }) => name)).size).toBe(changed)
  return { names, asked }
}

test('a plan of many services asks no more than one of few, where as much is changed', () => {
  const few = workOf(2 * changed)
  expect(few.names).toBe(changed)
  // A sticky service asks each of the chosen networks, on both sides and in both families.
  expect(few.asked).toBeGreaterThan(1_024)
  expect(few.asked).toBeLessThan(changed * 4 * 1_024)
  expect(workOf(laneCount(10_000, 1_000))).toEqual(few)
})

// Six times a sixth is not quite one.
test.each([2, 6])('a removed sticky service of %d members moves all, unasked', (count) => {
  const members = Array.from({ length: count }, (_, i) => member(`10.0.0.${i + 1}`))
  const model = {
    ...bareModel,
    zones: [zone('example.org.')],
    pools: [pool(1, members)],
    services: [
      service(1, 'stays.example.org.', { filterChain: ['sticky'], pool: 0 }),
      service(2, 'goes.example.org.', { filterChain: ['sticky'], pool: 0 }),
    ],
  }
  const head = { ...model, services: model.services.slice(0, 1) }
  expect(workBetween(model, head).asked).toBeLessThan(64)
  const [change] = planBetween(model, head).scenarios[0]!.changes
  const { moved, error, members: shares } = change!.movement!.ipv4
  expect([change!.name, moved, error]).toEqual(['goes.example.org.', 1, 0])
  expect(shares.map(({ before, after }) => [before, after])).toEqual([
    [0, 1],
    ...members.map(() => [1 / count, 0]),
  ])
})

test.each([
  [0, 65_536],
  [64, 65_536],
  [128, 32_768],
  [1_024, 4_096],
  [10_000, 4_096],
])('where %d names differ, %d networks of each sticky one are asked', (names, networks) => {
  expect(networksFor(names)).toBe(networks)
})
