// Clients that had no address: the headline, the figures for programs and the guardrail agree on
// how many of them move.
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { MovedNames } from '#judge/effects/moved-between.ts'
import { shortSummary } from '#judge/print/short.ts'
import { movedOf, verdict } from '#judge/print/phrases.ts'
import { bareModel, pool, service, zone } from '#test/support/bundle-models.ts'
import { planBetween } from '#test/support/plans.ts'

const [a, b, c] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const
const modelOf = (addresses: readonly string[], poolOfService = 0): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, addresses), pool(2, [c])],
  services: [service(1, 'www.example.org.', { pool: poolOfService })],
})

const none = 'no client moves'
const got = '100 % of clients get an address, and had none'
const moves = 'up to 100 % of the clients of a name move (www.example.org.)'
const rows: readonly [
  what: string,
  base: BundleModel,
  head: BundleModel,
  moved: number,
  headline: string,
  row: string,
][] = [
  ['a pool where there was none', modelOf([a], -1), modelOf([a]), 0, none, got],
  ['the first member of a pool', modelOf([]), modelOf([a]), 0, none, got],
  ['the last member of a pool', modelOf([a]), modelOf([]), 1, moves, '100 % of clients move'],
  ['another member', modelOf([a]), modelOf([b]), 1, moves, '100 % of clients move'],
]
test.each(rows)('%s', (_what, base, head, moved, headline, row) => {
  const guarded = new MovedNames()
  const plan = planBetween(base, head, { onChange: (change) => guarded.add(change) })
  expect(plan.summary).toMatchObject({ names: 1, movedMax: moved })
  expect(guarded.all.map(({ share }) => share)).toEqual([moved])
  expect(verdict(plan).split('; ')).toContain(headline)
  expect(shortSummary(plan.summary)).toMatch(`moved=${moved * 100}%`)
  const [change] = plan.scenarios[0]!.changes
  expect(movedOf(change!).split(';')[0]).toContain(row)
})
