// The shares of a plan over the table of the whole world: each of its IPv4 ranges asked of both
// bundles through the answer path.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel, ClientRanges, ServiceModel } from '#bundle/format/model.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import { assert } from '#lib/assert.ts'
import { Random } from '#lib/random.ts'
import { cutsOf, rowsOfRanges } from '#judge/clients/cuts.ts'
import { makePlan } from '#judge/plan/plan.ts'
import { createSide } from '#judge/sides/side.ts'
import type { Side } from '#judge/sides/side.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import { answer } from '#answer/answer.ts'
import { bundleOf, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

/** Operators have a /12 each: the table of the world has none. */
const operatorBits = 12
const networks = Array.from({ length: 2 ** operatorBits }, (_, i) => {
  const cidr = `${i >> 4}.${(i & 15) << 4}.0.0/${operatorBits}`
  return [cidr, { autonomous_system_number: 64_500 + (i % 7) }] as const
})
const dir = makeTempDir('plan-world')
const asn = join(dir, 'asn.mmdb')
writeFileSync(asn, writeMmdb({ type: 'ASN', ipVersion: 4, networks }))
const geoip = createRequire(import.meta.url).resolve(
  '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb',
)
const loaded = loadTables({ geoip, asn })
removeTempDir(dir)
assert(loaded.ok, 'the databases are read')
const tablesOf = loaded.value

interface Chain {
  readonly name: string
  readonly parts: Partial<ServiceModel>
  /** Answers in a row that take each turn equally often: of one to four members. Default 1. */
  readonly turns?: number
  /** Its pool has rules for networks. */
  readonly isRuled?: boolean
}

/** Dice and most chains of several steps are in plan-by-client, in a small world. */
const chains: readonly Chain[] = [
  { name: 'first', parts: { algorithm: 'failover' } },
  { name: 'turns', parts: { algorithm: 'round-robin' }, turns: 12 },
  { name: 'nearest', parts: { algorithm: 'geo-ip' }, turns: 12 },
  { name: 'nearest-first', parts: { filterChain: ['geo-ip', 'failover'] } },
  { name: 'ruled-first', parts: { filterChain: ['geo-ip', 'failover'] }, isRuled: true },
  { name: 'map', parts: { filterChain: ['map-file', 'failover'] } },
  { name: 'operator', parts: { filterChain: ['asn', 'failover'] } },
  { name: 'operator-nearest', parts: { filterChain: ['asn', 'geo-ip', 'failover'] } },
  { name: 'map-nearest', parts: { filterChain: ['map-file', 'geo-ip', 'failover'] } },
  { name: 'operator-map', parts: { filterChain: ['asn', 'map-file', 'failover'] } },
  { name: 'signals', parts: { filterChain: ['signal-weight', 'geo-ip', 'failover'] } },
]
/** They tell each /24 apart. */
const stickyChains: readonly Chain[] = [
  { name: 'sticky', parts: { filterChain: ['sticky'] } },
  { name: 'nearest-sticky', parts: { filterChain: ['geo-ip', 'sticky'] } },
]
const regions = ['DE', 'US', 'JP', 'continent:EU']
const address = (i: number): string => `192.0.2.${i + 1}`

const random = new Random(15)
const edges: number[] = []
/** Disjoint, in order, over all of IPv4. */
function randomRanges(): ClientRanges {
  const v4 = []
  for (let start = random.next() % 2 ** 24; start < 2 ** 32;) {
    const end = Math.min(2 ** 32, start + 1 + (random.next() % 2 ** 24))
    v4.push({ start, end: end - 1, endpoints: [address(random.next() % regions.length)] })
    edges.push(start, end)
    start = end + (random.next() % 2 ** 25)
  }
  return { v4, v6: [] }
}

/** @param first the first member that there is */
const modelOf = (first: number): BundleModel => {
  const members = regions.flatMap((region, i) =>
    i < first ? [] : [member(address(i), { region, priority: i + 1 })],
  )
  return {
    ...smallModel,
    pools: [pool(1, members), pool(2, members, { geoRules: randomRanges() })],
    services: [...chains, ...stickyChains].map(({ name, parts, isRuled = false }, i) =>
      service(i, `${name}.example.org.`, { ...parts, pool: isRuled ? 1 : 0 }),
    ),
    routing: {
      ...plainRouting,
      mapRules: randomRanges(),
      asnRules: [0, 1, 2].map((i) => ({
        ...{ asn: 64_500 + i, org: '' },
        endpoint: address((i + first) % regions.length),
      })),
      signals: { weight: 0.5, static: { DE: 1 + first, US: 2, JP: 3 } },
    },
  }
}
const sourceOf = (model: BundleModel) => {
  const bundle = bundleOf(model)
  return { source: '', bundle, tables: tablesOf(bundle) }
}
const [base, head] = [sourceOf(modelOf(0)), sourceOf(modelOf(1))]
const { geo } = base.tables
const moment = { atMs: 1_000, health: null }
const plan = makePlan({ base, head, moments: [moment], geo, scripts: null })

/** Where clients begin to be others: to the table, to operators, to rules, and to the Internet. */
const starts = Float64Array.from(
  new Set([
    ...Array.from(cutsOf(rowsOfRanges(new CountryTable(geo.country!).ranges)).v4.starts),
    ...networks.map((_, i) => i * 2 ** (32 - operatorBits)),
    ...[2 ** 24, 127 * 2 ** 24, 128 * 2 ** 24, 224 * 2 ** 24],
    ...edges.filter((edge) => edge < 2 ** 32),
  ]),
).sort()
/** 0/8, 127/8 and 224/3 are nobody's. */
const isClient = (at: number): boolean =>
  at >= 2 ** 24 && at < 224 * 2 ** 24 && Math.floor(at / 2 ** 24) !== 127

const message = new Uint8Array(1_024)
/** A client subnet of its whole address (RFC 7871 section 6). */
const opt = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 12, 0, 8, 0, 8, 0, 1, 32, 0]

/** @returns the last octet of the first address; 0: there is none */
function firstOf(side: Side, question: Uint8Array, client: number): number {
  message.set(question)
  message[11] = 1
  message.set(opt, question.length)
  const end = question.length + opt.length
  message.set([client >>> 24, (client >>> 16) & 255, (client >>> 8) & 255, client & 255], end)
  answer(side.tx, message, 0, end + 4, message, 0, message.length)
  return side.tx.answerCount === 0 ? 0 : message[question.length + 15]!
}

const movementOf = (name: string) =>
  plan.scenarios[0]!.changes.find((one) => one.name === `${name}.example.org.`)!.movement!.ipv4

const seen = regions.length + 1

test.each(chains)('$name: every range of the world table', ({ name, turns = 1 }) => {
  const told = movementOf(name)
  const sides = [createSide(base, moment, null), createSide(head, moment, null)] as const
  const question = query(`${name}.example.org. A`)
  /** By side: what each member gets of all clients, and of the one that is asked. */
  const [all, own] = [0, 1].map(() => [new Float64Array(seen), new Float64Array(seen)]) as [
    [Float64Array, Float64Array],
    [Float64Array, Float64Array],
  ]
  let [whole, moved, asked] = [0, 0, 0]
  for (let row = 0; row < starts.length; row++) {
    const start = starts[row]!
    if (!isClient(start)) continue
    asked++
    const weight = (starts[row + 1] ?? 2 ** 32) - start
    whole += weight
    for (const [i, side] of sides.entries()) {
      own[i]!.fill(0)
      for (let turn = 0; turn < turns; turn++) own[i]![firstOf(side, question, start)]! += 1 / turns
    }
    for (let at = 0; at < seen; at++) {
      const [before, after] = [own[0][at]!, own[1][at]!]
      all[0][at]! += before * weight
      all[1][at]! += after * weight
      moved += Math.max(0, before - after) * weight
    }
  }
  // Fewer, and it would not be the world.
  expect([asked > 200_000, moved > 0]).toEqual([true, true])
  expect(told.error).toBe(0)
  expect(Math.abs(told.moved - moved / whole)).toBeLessThan(1e-9)
  expect(told.members.length).toBeGreaterThan(0)
  for (const share of told.members) {
    const at = Number(share.member.split('.')[3])
    expect(Math.abs(share.before - all[0][at]! / whole)).toBeLessThan(1e-9)
    expect(Math.abs(share.after - all[1][at]! / whole)).toBeLessThan(1e-9)
  }
})

/** A prime: the networks that are asked lie in all parts of larger ones. */
const everyNth = 53

test.each(stickyChains)('$name: each 53rd network, as far as the plan may err', ({ name }) => {
  const told = movementOf(name)
  const sides = [createSide(base, moment, null), createSide(head, moment, null)] as const
  const question = query(`${name}.example.org. A`)
  let [asked, moved] = [0, 0]
  for (let start = 2 ** 24; start < 224 * 2 ** 24; start += everyNth * 256) {
    if (!isClient(start)) continue
    asked++
    if (firstOf(sides[0], question, start) !== firstOf(sides[1], question, start)) moved++
  }
  const share = moved / asked
  // Both were asked of a part of all networks; a plan errs further in 1 of 20 alone.
  const ownError = 1.96 * Math.sqrt((share * (1 - share)) / asked)
  expect([told.error > 0, told.error < 0.01, share > 0.1]).toEqual([true, true, true])
  expect(Math.abs(told.moved - share)).toBeLessThan(told.error + ownError)
})
