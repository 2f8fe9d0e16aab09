// A plan in which clients of many countries move, for tests of its lists and maps.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundleModel } from '#bundle/format/model.ts'
import { loadTables } from '#judge/simulate/tables.ts'
import { placesOfCountries } from '#dashboard/map/places.ts'
import { assert } from '#lib/assert.ts'
import { makePlan } from '#judge/plan/plan.ts'
import type { Plan } from '#judge/document/model.ts'
import { bareModel, bundleOf, member, pool, service, zone } from './bundle-models.ts'
import { writeMmdb } from './mmdb-writer.ts'
import { makeTempDir, removeTempDir } from './temp-dir.ts'

/** Besides Germany. */
export const otherCountries: readonly string[] = placesOfCountries()
  .map(([code]) => code)
  .filter((code) => code !== 'DE')
  .slice(0, 60)

const networks = [
  ['10.0.0.0/8', { country: { iso_code: 'DE' } }],
  ['12.0.0.0/8', { continent: { code: 'OC' } }],
  ...otherCountries.map((code, i) => [`11.${i}.0.0/16`, { country: { iso_code: code } }] as const),
] as const

const byCountry = { filterChain: ['geo-ip', 'failover'] }
const german = (address: string) => member(address, { region: 'DE', priority: 2 })
const others = (address: string) => member(address, { region: 'US', priority: 1 })
const [was, is, stays] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const

const modelOf = (moving: string, more: BundleModel['services']): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, [german(stays), others(moving)]), pool(2, [german(moving), others(stays)])],
  services: [
    service(1, 'others.example.org.', { ...byCountry, pool: 0 }),
    service(2, 'germans.example.org.', { ...byCountry, pool: 1 }),
    ...more,
  ],
})

/** Germans move at one name, all others at another; a third name is new. */
export function planOfCountries(): Plan {
  return planBetweenModels(
    modelOf(was, []),
    modelOf(is, [service(3, 'new.example.org.', { pool: 0 })]),
  )
}

/** At each name everybody moves to a different target. */
export function planOfMoving(names: number): Plan {
  const rows = Array.from({ length: names }, (_, i) => i)
  const modelWith = (octet: number): BundleModel => ({
    ...bareModel,
    zones: [zone('example.org.')],
    pools: rows.map((i) => pool(i + 1, [german(`10.${octet}.${i >> 8}.${i & 255}`)])),
    services: rows.map((i) => service(i + 1, `s${i}.example.org.`, { pool: i })),
  })
  return planBetweenModels(modelWith(1), modelWith(2))
}

function planBetweenModels(was: BundleModel, is: BundleModel): Plan {
  const dir = makeTempDir('country-plan')
  const geoip = join(dir, 'country.mmdb')
  writeFileSync(geoip, writeMmdb({ type: 'Test-Country', ipVersion: 4, networks }))
  const loaded = loadTables({ geoip })
  removeTempDir(dir)
  assert(loaded.ok, 'the database is read')
  const side = (source: string, model: BundleModel) => {
    const bundle = bundleOf(model)
    return { source, bundle, tables: loaded.value(bundle) }
  }
  const [base, head] = [side('base', was), side('head', is)]
  const moments = [{ atMs: 1_000, health: null }]
  return makePlan({ base, head, moments, geo: base.tables.geo, scripts: null })
}
