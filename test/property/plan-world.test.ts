// The shares of a plan over the table of the whole world: each of its IPv4 ranges asked of both
// bundles through the answer path.
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel, ServiceModel } from '#bundle/format/model.ts'
import { assert } from '#lib/assert.ts'
import { cutsOfRanges, overlay } from '#plan/clients/cuts.ts'
import { ipv4 } from '#plan/clients/space.ts'
import { makePlan } from '#plan/plan.ts'
import { createSide } from '#plan/sides/side.ts'
import type { Side } from '#plan/sides/side.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { answer } from '#runtime/answer/answer.ts'
import { loadGeo } from '#runtime/geo/load.ts'
import { bundleOf, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'

const require = createRequire(import.meta.url)
const path =
  require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb')
const loaded = loadGeo({ setting: 'geoip.dbPath', path })
assert(loaded.ok, 'the database is read')
const geo = loaded.buffers
const { starts, valueOf, ofOne } = overlay(
  ipv4.clients,
  cutsOfRanges(new CountryTable(geo.country!).ranges).v4,
)

/** Each client gets one answer: others take turns or throw dice, see plan-by-client. */
const chains: readonly (readonly [string, Partial<ServiceModel>])[] = [
  ['nearest-first', { filterChain: ['geo-ip', 'failover'] }],
  ['first', { algorithm: 'failover' }],
]
const regions = ['DE', 'US', 'JP', 'continent:SA', 'continent:EU', 'ZA']
const modelOf = (count: number): BundleModel => ({
  ...smallModel,
  pools: [
    pool(
      1,
      regions.slice(regions.length - count).map((region) =>
        member(`192.0.2.${regions.indexOf(region) + 1}`, {
          region,
          priority: regions.indexOf(region) + 1,
        }),
      ),
    ),
  ],
  services: chains.map(([name, parts], i) =>
    service(i, `${name}.example.org.`, { ...parts, pool: 0 }),
  ),
  routing: plainRouting,
})
const sourceOf = (model: BundleModel) => {
  const bundle = bundleOf(model)
  const tables = { ...noRoutingTables, geo, networks: packNetworks(bundle) }
  return { source: '', bundle, tables }
}
const [base, head] = [sourceOf(modelOf(6)), sourceOf(modelOf(5))]
const moment = { atMs: 1_000, health: null }

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

test.each(chains)('%s: every range of the world table', (name) => {
  const plan = makePlan({ base, head, moments: [moment], geo, scripts: null })
  const change = plan.scenarios[0]!.changes.find((one) => one.name.startsWith(`${name}.`))
  const told = change!.movement!.ipv4
  const sides = [createSide(base, moment, null), createSide(head, moment, null)] as const
  const question = query(`${name}.example.org. A`)
  const [before, after] = [new Float64Array(256), new Float64Array(256)]
  let [all, moved, asked] = [0, 0, 0]
  for (let row = 0; row < starts.length; row++) {
    const start = starts[row]!
    const end = starts[row + 1] ?? ipv4.end
    if (ofOne[valueOf[row]!] !== 1) continue
    asked++
    const [one, other] = [firstOf(sides[0], question, start), firstOf(sides[1], question, start)]
    before[one]! += end - start
    after[other]! += end - start
    all += end - start
    if (one !== other) moved += end - start
  }
  // Fewer, and it would not be the world.
  expect([asked > 200_000, moved > 0]).toEqual([true, true])
  expect(told.error).toBe(0)
  expect(Math.abs(told.moved - moved / all)).toBeLessThan(1e-9)
  for (const share of told.members) {
    const at = Number(share.member.split('.')[3])
    expect(Math.abs(share.before - before[at]! / all)).toBeLessThan(1e-9)
    expect(Math.abs(share.after - after[at]! / all)).toBeLessThan(1e-9)
  }
})
