// Members that a source finds, in a plan: told by their source, and down where the node found none.
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { printPlan } from '#judge/print/text.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { planBetween } from '#test/support/plans.ts'

const fixed = member('192.0.2.1')
const found = (source: string) => member('', { hostname: `from:${source}`, weight: 3 })
const model = (...members: readonly ReturnType<typeof member>[]): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, members)],
  services: [service(1, 'www.example.org.', { algorithm: 'weighted-round-robin' })],
})
const atMs = Date.UTC(2026, 0, 1)

test('one that comes takes the clients of its weight, by the name of its source', () => {
  const plan = planBetween(model(fixed), model(fixed, found('k8s/shop/web')))
  expect(printPlan(plan, { style: (_, words) => words, answersMax: 9 })).toMatch(
    /75 % {2}192\.0\.2\.1 \(pool-1\) → from:k8s\/shop\/web \(pool-1\)/,
  )
})

test('one whose source finds nobody, as the health of a node says, moves nobody', () => {
  const health = new Map([['pool-1/from:k8s/shop/web', { healthy: false }]])
  const plan = planBetween(model(fixed), model(fixed, found('k8s/shop/web')), {
    moments: [{ atMs, health }],
  })
  expect(plan.scenarios[0]!.changes).toEqual([])
})

test('another source in its place moves all of its clients', () => {
  const plan = planBetween(model(found('k8s/shop/web')), model(found('consul/web')))
  const moved = plan.scenarios[0]!.changes.map(({ type, movement }) => [type, movement?.ipv4.moved])
  expect(moved).toContainEqual(['A', 1])
})
