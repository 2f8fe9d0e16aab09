// Which client of a country is simulated, by what a geo database has.
import { expect, test } from 'vitest'
import { clientOfCountry } from '#questions/simulate/client-of-country.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { loadGeo } from '#inputs/geo/load.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

test('the largest network of it, or that there is none', () => {
  const dir = makeTempDir('client-of-country')
  const path = join(dir, 'country.mmdb')
  const country = (iso: string) => ({ country: { iso_code: iso } })
  const networks = [
    ['10.1.0.0/24', country('DE')],
    ['10.2.0.0/16', country('DE')],
    ['10.3.0.0/25', country('LI')],
    ['203.0.113.0/24', country('JP')],
    ['2001:db8::/32', country('FR')],
  ] as const
  writeFileSync(path, writeMmdb({ ipVersion: 6, type: 'Test-Country', networks }))
  const loaded = loadGeo({ setting: 'geoip.dbPath', path })
  removeTempDir(dir)
  expect(loaded.ok).toBe(true)
  const buffers = loaded.ok ? { ...noGeoBuffers, ...loaded.buffers } : noGeoBuffers
  const rows = [
    ['DE', '10.2.0.0/24'],
    ['JP', '203.0.113.0/24'],
    // Less than a /24, IPv6 alone, and none.
    ['LI', undefined],
    ['FR', undefined],
    ['US', undefined],
  ] as const
  for (const [code, network] of rows) {
    const found = clientOfCountry(buffers, code)
    expect([code, found.ok ? found.value : undefined]).toEqual([code, network])
  }
  expect(clientOfCountry(noGeoBuffers, 'DE')).toEqual({ ok: false, error: 'no-database' })
})
