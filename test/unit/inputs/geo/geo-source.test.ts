// Geo tables follow their files: written anew, renamed over, turned by a symbolic link, broken.
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { countryRow, packCode, unpackCode } from '#routing/geo/countries.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { readUnchanged } from '#inputs/geo/geo-file.ts'
import type { ReadOnce } from '#inputs/geo/geo-file.ts'
import { GeoSource } from '#inputs/geo/geo-source.ts'
import type { GeoSourceParts } from '#inputs/geo/geo-source.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const country = (code: string): Buffer =>
  writeMmdb({ networks: [['192.0.2.0/24', { country: { iso_code: code } }]], type: `Of-${code}` })
const city = writeMmdb({
  networks: [['192.0.2.0/24', { country_code: 'FR', lat: 48.85, lng: 2.35 }]],
})
const asn = writeMmdb({ networks: [['192.0.2.0/24', { asn: 'AS64496', name: 'Example' }]] })

interface Followed {
  readonly source: GeoSource
  readonly changes: GeoBuffers[]
  readonly lines: string[]
}

async function follow(paths: GeoSourceParts['paths']): Promise<Followed> {
  const changes: GeoBuffers[] = []
  const lines: string[] = []
  const keep = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`)
  }
  const source = new GeoSource({
    paths,
    clock: systemClock,
    log: { info: keep, warn: keep, error: keep },
    onChange: (buffers) => void changes.push(buffers),
    pollMs: 10,
  })
  onTestFinished(() => source.stop())
  await source.start()
  return { source, changes, lines }
}

/** The country of 192.0.2.1. */
function countryOf(buffers: GeoBuffers): string {
  const table = new GeoTables(buffers).country
  if (table === null) return 'no table'
  return unpackCode(table.countryCode[table.ranges.value4(table.ranges.find4(0xc000_0201))]!)
}

const comesTo = (source: GeoSource, code: string): Promise<boolean> =>
  waitUntil(`the country ${code}`, () => countryOf(source.buffers) === code)

describe('a geo source', () => {
  test.each([
    ['countries alone', country('DE'), 1],
    ['places', city, 0],
  ])('of %s: missing places are said', async (_, content, warnings) => {
    const path = join(tempDir(), 'geo.mmdb')
    writeFileSync(path, content)
    const { lines } = await follow({ 'geoip.dbPath': path })
    expect(lines.filter((line) => line.includes('no places'))).toHaveLength(warnings)
  })

  test('loads each setting, and hands all tables over once', async () => {
    const folder = tempDir()
    writeFileSync(join(folder, 'city.mmdb'), city)
    writeFileSync(join(folder, 'asn.mmdb'), asn)
    const { source, changes } = await follow({
      'geoip.dbPath': join(folder, 'city.mmdb'),
      'asn.dbPath': join(folder, 'asn.mmdb'),
    })
    expect(changes).toEqual([source.buffers])
    const tables = new GeoTables(changes[0]!)
    expect(countryOf(changes[0]!)).toBe('FR')
    expect(tables.location!.countryRow[1]).toBe(countryRow(packCode('FR')))
    expect(tables.asn!.asnNumber[1]).toBe(64_496)
    expect(source.status().map(({ setting, error }) => [setting, error])).toEqual([
      ['geoip.dbPath', null],
      ['asn.dbPath', null],
    ])
  })

  test('prefers the country of the latency setting, and falls back without it', async () => {
    const folder = tempDir()
    const own = join(folder, 'own.mmdb')
    writeFileSync(join(folder, 'city.mmdb'), city)
    const { source } = await follow({
      'geoip.dbPath': join(folder, 'city.mmdb'),
      'latency.geoipDBPath': own,
    })
    expect(countryOf(source.buffers)).toBe('FR')
    expect(source.status()[1]!.error).toBe(`there is no file ${own}`)
    writeFileSync(own, country('JP'))
    await comesTo(source, 'JP')
    expect(source.buffers.location).not.toBeNull()
  })

  test('without settings has no tables and says nothing', async () => {
    const { source, changes, lines } = await follow({ 'geoip.dbPath': '' })
    expect([changes, lines, source.status()]).toEqual([[], [], []])
    expect(new GeoTables(source.buffers).country).toBeNull()
  })

  test('reads one file for two settings once', async () => {
    const path = join(tempDir(), 'city.mmdb')
    writeFileSync(path, city)
    const { source } = await follow({ 'geoip.dbPath': path, 'latency.geoipDBPath': path })
    expect(source.status()).toHaveLength(1)
    expect(countryOf(source.buffers)).toBe('FR')
  })

  test('says what it loaded, from when and how much', async () => {
    const path = join(tempDir(), 'a.mmdb')
    writeFileSync(path, country('DE'))
    const before = Date.now()
    const { source, lines } = await follow({ 'geoip.dbPath': path })
    const [status] = source.status()
    expect(status).toMatchObject({
      path,
      type: 'Of-DE',
      buildEpoch: 1_700_000_000,
      networks: 1,
      error: null,
    })
    expect(status!.loadedAtMs).toBeGreaterThanOrEqual(before)
    expect(lines.join()).toContain('"holds":["country"]')
  })
})

describe('a changed file is loaded:', () => {
  test('renamed over the one before', async () => {
    const path = join(tempDir(), 'a.mmdb')
    writeFileSync(path, country('DE'))
    const { source, changes } = await follow({ 'geoip.dbPath': path })
    writeFileSync(`${path}.new`, country('SE'))
    renameSync(`${path}.new`, path)
    await comesTo(source, 'SE')
    expect(changes.map(countryOf)).toEqual(['DE', 'SE'])
  })

  test('written in place', async () => {
    const path = join(tempDir(), 'a.mmdb')
    writeFileSync(path, country('DE'))
    const { source } = await follow({ 'geoip.dbPath': path })
    writeFileSync(path, country('NO'))
    await comesTo(source, 'NO')
  })

  test('mounted from a ConfigMap, whose link is turned', async () => {
    const folder = tempDir()
    const version = (name: string, code: string): void => {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'a.mmdb'), country(code))
      symlinkSync(name, join(folder, '..data_tmp'))
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    }
    version('..2026_01', 'DE')
    symlinkSync(join('..data', 'a.mmdb'), join(folder, 'a.mmdb'))
    const { source } = await follow({ 'geoip.dbPath': join(folder, 'a.mmdb') })
    expect(countryOf(source.buffers)).toBe('DE')
    version('..2026_02', 'FI')
    rmSync(join(folder, '..2026_01'), { recursive: true })
    await comesTo(source, 'FI')
  })

  test('there for the first time', async () => {
    const path = join(tempDir(), 'a.mmdb')
    const { source, changes } = await follow({ 'geoip.dbPath': path })
    expect([changes, source.status()[0]!.error]).toEqual([[], `there is no file ${path}`])
    writeFileSync(path, country('DE'))
    await comesTo(source, 'DE')
    expect(source.status()[0]!.error).toBeNull()
  })
})

describe('a file that is of no use leaves the tables as they are, and the status says why:', () => {
  test.each<[string, (path: string) => void, string]>([
    ['cut short', (path) => truncateSync(path, 400), 'its end is missing'],
    ['of text', (path) => writeFileSync(path, 'error 403'), 'is not a MaxMind DB file'],
    ['of the wrong type', (path) => writeFileSync(path, asn), 'wants a City or Country database'],
    ['removed', (path) => rmSync(path), 'there is no file'],
    [
      'a folder',
      (path) => {
        rmSync(path)
        mkdirSync(path)
      },
      'is not a file',
    ],
  ])('%s', async (_title, breakIt, sentence) => {
    const path = join(tempDir(), 'a.mmdb')
    writeFileSync(path, country('DE'))
    const { source, changes, lines } = await follow({ 'geoip.dbPath': path })
    breakIt(path)
    const error = await waitUntil('the error', () => source.status()[0]!.error)
    expect(error).toContain(sentence)
    expect(error).toContain(path)
    expect(countryOf(source.buffers)).toBe('DE')
    expect(source.status()[0]!.type).toBe('Of-DE')
    // Two more looks, and no more lines.
    await source.look()
    await source.look()
    expect(lines.filter((line) => line.includes('the tables before stay in use'))).toHaveLength(1)
    rmSync(path, { recursive: true, force: true })
    writeFileSync(path, country('IT'))
    await comesTo(source, 'IT')
    expect(source.status()[0]!.error).toBeNull()
    expect(changes).toHaveLength(2)
  })
})

describe('a file that is replaced while it is read', () => {
  const read = (path: string, fingerprint: string) => ok({ bytes: readFileSync(path), fingerprint })

  test('is read again, whole', () => {
    const path = join(tempDir(), 'a.mmdb')
    writeFileSync(path, country('DE'))
    let reads = 0
    const once: ReadOnce = (asked) => {
      reads++
      const seen = readUnchanged(asked)
      if (reads === 1) {
        writeFileSync(`${path}.new`, country('SE'))
        renameSync(`${path}.new`, path)
      }
      return seen
    }
    const file = readUnchanged(path, once)
    expect(file.ok && file.value.bytes.equals(country('SE'))).toBe(true)
    expect(reads).toBe(2)
  })

  test('again and again is given up', () => {
    const path = join(tempDir(), 'a.mmdb')
    writeFileSync(path, 'x')
    const file = readUnchanged(path, (asked) => read(asked, 'another one'))
    expect(file.ok ? 'read' : file.error).toContain('changes while it is read')
  })
})
