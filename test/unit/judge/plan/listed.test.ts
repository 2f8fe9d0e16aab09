// A plan of very many answers lists some of them, and counts all.
import { expect, test } from 'vitest'
import { MovedNames, movesOf } from '#judge/effects/moved-between.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { printPlan } from '#judge/print/text.ts'
import { printPlanHtml } from '#judge/print/html.ts'
import { printPlanMarkdown } from '#judge/print/markdown.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { planBetween, requestBetween } from '#test/support/plans.ts'

const names = 40

/** @param moved percent of the clients of a name that its second member gets, by name */
function modelOf(services: number, moved: (i: number) => number): BundleModel {
  const rows = Array.from({ length: services }, (_, i) => i)
  return {
    ...bareModel,
    zones: [zone('example.org.')],
    pools: rows.map((i) =>
      pool(i + 1, [
        member(`10.0.${i}.1`, { weight: 100 - moved(i) }),
        member(`10.0.${i}.2`, { weight: moved(i) }),
      ]),
    ),
    services: rows.map((i) =>
      service(i + 1, `s${String(i).padStart(2, '0')}.example.org.`, {
        filterChain: ['weighted-round-robin'],
        pool: i,
      }),
    ),
  }
}

/** 1 % of name 0's clients move, 2 % of name 1's, … and some more names come. */
const base = modelOf(names, () => 1)
const head = modelOf(names + 2, (i) => 2 + (i % names))

const planned = (listedEntriesMax: number) => {
  const moved = new MovedNames()
  const onChange = moved.add.bind(moved)
  return { moved, plan: planBetween(base, head, { listedEntriesMax, onChange }) }
}

test('the smallest movements are left out, and counted with all', () => {
  const { plan: all, moved: movedOfAll } = planned(1_000_000)
  const { plan: few, moved: movedOfFew } = planned(300)
  const [whole, short] = [all.scenarios[0]!, few.scenarios[0]!]
  expect(whole).toMatchObject({ omitted: 0, changes: { length: names + 2 } })
  expect(short.changes.length).toBeGreaterThan(5)
  expect(short.changes.length + short.omitted).toBe(names + 2)
  // New names have clients who got nothing: all of them.
  const first = names - (short.changes.length - 2)
  expect(short.changes.map(({ name }) => name)).toEqual(
    whole.changes.slice(first).map(({ name }) => name),
  )
  expect(few.summary).toEqual(all.summary)
  expect(short.traffic).toEqual(whole.traffic)
  expect(movedOfFew.all).toEqual(movedOfAll.all)
  expect(movedOfAll.all).toHaveLength(names + 2)
})

test('where only what moves is wanted, it is what the whole plan says', () => {
  const { moved } = planned(1_000_000)
  expect(movesOf(requestBetween(base, head)).moved).toEqual(moved.all)
})

test('a bound is shared by the scenarios, and each lists one answer at least', () => {
  const moments = Array.from({ length: 4 }, () => ({ atMs: 0, health: null }))
  const { scenarios } = planBetween(base, head, { listedEntriesMax: 40, moments })
  expect(scenarios.map(({ changes }) => changes.length)).toEqual([1, 1, 1, 1])
  expect(scenarios.map(({ omitted }) => omitted)).toEqual(Array(4).fill(names + 1))
})

test('each form of the plan says how many are not listed', () => {
  const { plan } = planned(300)
  const { changes, omitted } = plan.scenarios[0]!
  const style = (_: string, text: string): string => text
  const text = printPlan(plan, { style, answersMax: 2 })
  expect(text).toContain(
    `… and ${names} more: the plan lists ${changes.length} answers, of which most clients move`,
  )
  expect(printPlan(plan, { style, answersMax: 1_000 })).toContain(`… and ${omitted} more: the`)
  expect(printPlanMarkdown(plan)).toContain(`… and ${omitted} more answers.`)
  expect(printPlanHtml(plan)).toContain(`${names + 2} answers differ</h2>`)
  expect(printPlanHtml(plan)).toContain(`<p>… and ${omitted} more</p>`)
})

const poolOf = (members: number, octet: number): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [
    pool(
      1,
      Array.from({ length: members }, (_, i) => member(`10.${octet}.${i >> 8}.${i & 255}`)),
    ),
  ],
  services: [service(1, 'www.example.org.', { algorithm: 'round-robin', pool: 0 })],
})

test.each([
  [64, 4_096, '10.1.0.0'],
  [65, 1, ''],
  [4_096, 1, ''],
])('flows between %d members and as many others are %d', (members, flows, from) => {
  const { scenarios } = planBetween(poolOf(members, 1), poolOf(members, 32))
  const { moved, flows: told, members: shares } = scenarios[0]!.changes[0]!.movement!.ipv4
  expect([moved, told.length, shares.length]).toEqual([1, flows, 2 * members])
  expect(told.some((flow) => flow.from.member === from)).toBe(true)
  expect(told.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9)
})
