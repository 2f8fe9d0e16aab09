// Numbers in the printed forms of a plan: thousands, one and many, and shares without noise.
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { figure } from '#judge/plan/figure.ts'
import { printPlanHtml } from '#judge/print/html.ts'
import { printPlanMarkdown } from '#judge/print/markdown.ts'
import { printPlan } from '#judge/print/text.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { planBetween } from '#test/support/plans.ts'

const nameOf = (i: number): string => `n${i}.example.org.`
const modelOf = (addresses: readonly string[], services: number): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [
    pool(
      1,
      addresses.map((ip, i) => member(ip, { priority: i + 1 })),
    ),
  ],
  services: Array.from({ length: services }, (_, i) =>
    service(i + 1, nameOf(services - i), { algorithm: 'failover', pool: 0 }),
  ),
})
const forms = (base: BundleModel, head: BundleModel, answersMax = 1) => {
  const plan = planBetween(base, head)
  const text = printPlan(plan, { style: (_, words) => words, answersMax })
  return [text, printPlanMarkdown(plan), printPlanHtml(plan)] as const
}

test('thousands are set apart in each form, wherever they are', () => {
  const head = modelOf(['192.0.2.2'], 1_200)
  const [text, markdown, html] = forms(modelOf(['192.0.2.1'], 1_200), head)
  for (const form of [text, markdown, html]) {
    expect(form).toContain('1,200 of 1,201 names answer differently')
    expect(form).not.toMatch(/\b1\d{3}\b(?!\.)/)
  }
  expect(text).toContain('… and 1,199 more: --limit N')
  expect(markdown).toContain('… and 1,150 more answers.')
  expect(html).toContain('1,200 answers differ')
})

test.each([
  [11, '… 1 more way to move'],
  [12, '… 2 more ways to move'],
  [21, '… 1 more member\n'],
  [22, '… 2 more members\n'],
])('the line for %i new members: %s', (count, words) => {
  const turns = (addresses: readonly string[]): BundleModel => ({
    ...modelOf(addresses, 1),
    services: [service(1, nameOf(1), { pool: 0 })],
  })
  const come = Array.from({ length: count }, (_, i) => `198.51.100.${i + 1}`)
  const isOfWays = words.includes('way')
  // The member that goes is one of the listed members, too.
  const [text] = forms(turns(['192.0.2.1']), turns(isOfWays ? come : come.slice(1)))
  expect(text).toContain(words)
})

test('names of what may show later are in their order, the first few of them', () => {
  const { later } = planBetween(
    modelOf(['192.0.2.1', '192.0.2.2'], 30),
    modelOf(['192.0.2.1', '192.0.2.3'], 30),
  )
  const all = Array.from({ length: 30 }, (_, i) => nameOf(i + 1)).sort()
  expect(later.map(({ kind, names }) => [kind, names])).toEqual([['pool', all.slice(0, 20)]])
})

test.each([
  [0.8000000000000002, 0.8],
  [0.1 + 0.2, 0.3],
  [1 / 3, 0.333333333333],
  [0.9999999999999998, 1],
  [1 - 2 ** -32, 0.999999999767],
  [2 ** -64, 5.42101086243e-20],
  [0, 0],
  [1, 1],
])('a share of %d is told as %d', (share, told) => {
  expect(figure(share)).toBe(told)
})

test('a sum of shares is told without its noise, and the headline has it', () => {
  const weighted = (...weights: readonly number[]): BundleModel => ({
    ...modelOf([], 1),
    pools: [
      pool(
        1,
        weights.map((weight, i) => member(`192.0.2.${i + 1}`, { weight })),
      ),
    ],
    services: [service(1, nameOf(1), { algorithm: 'weighted-round-robin', pool: 0 })],
  })
  const { summary, scenarios } = planBetween(weighted(8, 1, 1), weighted(1, 3, 6))
  const { moved, differs } = scenarios[0]!.changes[0]!.movement!.ipv4
  expect([summary.movedMax, moved, differs]).toEqual([0.7, 0.7, 1])
})
