// A plan by traffic: what clients count, and what members get.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { trafficIn } from '#judge/clients/traffic-file.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import { ipv4, ipv6 } from '#judge/clients/space.ts'
import { countedSpaces } from '#judge/clients/traffic.ts'
import type { Traffic } from '#judge/clients/traffic.ts'
import { makePlan } from '#judge/plan/plan.ts'
import { amount } from '#judge/print/phrases.ts'
import type { Plan } from '#judge/document/model.ts'
import { bundleOf, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

/** Half of Germany is in 10.0.0.0/24, the other half in 10.0.1.0/24; Japan has 1,024 addresses. */
const networks = [
  ['10.0.0.0/23', { country: { iso_code: 'DE' } }],
  ['10.0.4.0/22', { country: { iso_code: 'JP' } }],
  ['2001:db8::/47', { country: { iso_code: 'DE' } }],
] as const
const dir = makeTempDir('plan-traffic')
const geoip = join(dir, 'country.mmdb')
writeFileSync(geoip, writeMmdb({ type: 'Test-Country', ipVersion: 6, networks }))
const loaded = loadTables({ geoip })
removeTempDir(dir)
if (!loaded.ok) throw new Error(loaded.error)
const tablesOf = loaded.value

const trafficOf = (value: object): Traffic => {
  const read = trafficIn(value, 'counts')
  if (!read.ok) throw new Error(read.error)
  return read.value
}

const members = (region: string) => [
  member('192.0.2.1', { region, priority: 1 }),
  member('192.0.2.2', { region: 'US', priority: 2 }),
]
const ruled = (start: number, end: number) => ({
  geoRules: { v4: [{ start, end, endpoints: ['192.0.2.1'] }], v6: [] },
})
const first4 = 0x0a00_0000
const modelOf = (region: string, rules: object): BundleModel => ({
  ...smallModel,
  pools: [pool(1, members(region)), pool(2, members('US'), rules)],
  services: [
    service(1, 'place.example.org.', { filterChain: ['geo-ip', 'failover'], pool: 0 }),
    service(2, 'rule.example.org.', { filterChain: ['geo-ip', 'failover'], pool: 1 }),
  ],
})
const away = { geoRules: { v4: [], v6: [] } }
/** Germans lose their member; who is in 10.0.1.0/24 has no rule any more. */
const sides = [modelOf('DE', ruled(first4 + 256, first4 + 511)), modelOf('US', away)].map(
  (model) => {
    const prefers = (one: BundleModel): BundleModel => ({
      ...one,
      pools: one.pools.map((each) => ({
        ...each,
        members: each.members.map((m, i) => ({ ...m, priority: i === 0 ? 2 : 1 })),
      })),
    })
    return bundleOf(prefers(model))
  },
) as [ReturnType<typeof bundleOf>, ReturnType<typeof bundleOf>]

function planBy(traffic: Traffic | null, [before, after] = sides): Plan {
  const tables = tablesOf(before)
  return makePlan({
    base: { source: 'base', bundle: before, tables },
    head: { source: 'head', bundle: after, tables: tablesOf(after) },
    moments: [{ atMs: 1_000, health: null }],
    geo: tables.geo,
    scripts: null,
    traffic,
  })
}

const ipv4Of = (plan: Plan, name: string) => {
  const found = plan.scenarios[0]!.changes.find((one) => one.name === `${name}.example.org.`)
  if (found === undefined || found.movement === null) throw new Error(`${name} does not differ`)
  return found.movement.ipv4
}

test('clients count by what was counted of their country', () => {
  const even = planBy(null)
  const { moved, error } = ipv4Of(even, 'place')
  expect([moved < 1e-6, error, even.weights.by]).toEqual([true, 0, 'addresses'])
  const plan = planBy(trafficOf({ countries: { DE: 30, JP: 70 } }))
  expect(ipv4Of(plan, 'place')).toMatchObject({ moved: 0.3, error: 0 })
  expect(plan.weights).toEqual({ by: 'traffic', source: 'counts', seconds: null, sampled: null })
})

test('inside a country they count by addresses', () => {
  const plan = planBy(trafficOf({ sampled: 1_000, countries: { DE: 30, JP: 70 } }))
  expect(ipv4Of(plan, 'rule').moved).toBeCloseTo(0.15, 9)
  expect(ipv4Of(plan, 'rule').error).toBe(0)
  expect(plan.weights.sampled).toBe(1_000)
})

test('networks say it exactly, those in each other, too', () => {
  const counts = { '10.0.0.0/24': 10, '10.0.0.0/23': 20, '10.0.1.7/32': 5, '10.0.4.0/24': 65 }
  const { moved, error } = ipv4Of(planBy(trafficOf({ networks: counts })), 'rule')
  expect(moved).toBeCloseTo(0.15, 9)
  expect(error).toBe(0)
})

test('members get queries where names are counted, else a share', () => {
  const countries = { DE: 30, JP: 70 }
  const counted = planBy(
    trafficOf({ seconds: 10, countries, names: { 'place.example.org': 1_000 } }),
  )
  const told = (plan: Plan) =>
    plan.scenarios[0]!.traffic.members.map((one) => [
      one.member,
      Math.round(one.before * 1_000) / 1_000,
      Math.round(one.after * 1_000) / 1_000,
    ])
  expect(counted.scenarios[0]!.traffic.unit).toBe('queries-per-second')
  expect(told(counted)).toEqual([
    ['192.0.2.2', 70, 100],
    ['192.0.2.1', 30, 0],
  ])
  expect(counted.warnings.join()).toContain('no count of rule.example.org.')
  const shares = planBy(trafficOf({ countries }))
  expect(shares.scenarios[0]!.traffic.unit).toBe('share')
  expect(told(shares)).toEqual([
    ['192.0.2.2', 0.775, 1],
    ['192.0.2.1', 0.225, 0],
  ])
})

test('a gap in the counts is a warning', () => {
  const plan = planBy(trafficOf({ countries: { DE: 1, FR: 2 }, networks: { '10.0.0.0/24': 1 } }))
  const all = plan.warnings.join('\n')
  expect(all).toContain('counts clients of FR, which the database does not have')
  expect(all).toContain('inside a country clients are weighted by addresses')
  const four = planBy(trafficOf({ networks: { '10.0.0.0/24': 1 } }))
  expect(four.warnings.join()).toContain('counts no client of IPv6')
})

test('a counted space gives every query to somebody, and finds who stands for a part', () => {
  const traffic = trafficOf({
    countries: { DE: 30, JP: 70 },
    networks: { '10.0.0.0/24': 11, '192.0.2.0/25': 3, '2001:db8::/48': 9 },
  })
  const { country } = tablesOf(sides[0]).geo
  const { v4, v6, part6 } = countedSpaces(traffic, country)
  expect(v4.weightOf(0, ipv4.end)).toBeCloseTo(114, 6)
  expect(v6.weightOf(0n, ipv6.end)).toBeCloseTo(39, 6)
  expect(part6).toBeCloseTo(9 / 123, 9)
  // A quarter of the /24 and of Germany, by addresses.
  expect(v4.weightOf(first4, first4 + 64)).toBeCloseTo(30 / 8 + 11 / 4, 9)
  for (const part of [0, 0.1, 0.5, 0.9, 1]) {
    const at = v4.within(first4, first4 + 2_048, part)
    const weight = v4.weightOf(first4, first4 + 2_048)
    expect(Math.abs(v4.weightOf(first4, at) - weight * part)).toBeLessThan(0.5)
  }
})

test.each([
  [0, 'queries-per-second', '0'],
  [0.5, 'queries-per-second', '43,200/day'],
  [35, 'queries-per-second', '35/s'],
  [1_200, 'queries', '1,200'],
  [0.124, 'share', '12.4 %'],
] as const)('%d %s is printed as %s', (value, unit, words) => {
  expect(amount(value, unit)).toBe(words)
})
