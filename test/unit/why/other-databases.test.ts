// Tests gslbd why with an answer that used a database which has changed since.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { Exit } from '#system/process/command.ts'
import { goesBy, loadDatabases } from '#inputs/geo/databases.ts'
import { ways } from '#routing/choose/ways.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Journal } from '#journal/journal.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { runCli } from '#test/support/run-cli.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const startMs = Date.UTC(2027, 2, 1, 3)
const at = new Date(startMs + 60_000).toISOString()
const dir = makeTempDir('why-databases')
afterAll(() => removeTempDir(dir))

const german = member('192.0.2.1', { region: 'DE', priority: 2 })
const american = member('192.0.2.2', { region: 'US', priority: 1 })
const model: BundleModel = {
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, [german, american]), pool(2, [german])],
  services: [
    service(1, 'place.example.org.', { filterChain: ['geo-ip', 'failover'], pool: 0 }),
    service(2, 'plain.example.org.', { filterChain: ['failover'], pool: 0 }),
    service(3, 'dice.example.org.', { filterChain: ['geo-ip', 'sticky'], pool: 0 }),
    service(4, 'turns.example.org.', { filterChain: ['geo-ip', 'round-robin'], pool: 0 }),
    service(5, 'one.example.org.', { filterChain: ['geo-ip', 'failover'], pool: 1 }),
  ],
}

function databaseOf(name: string, buildEpoch: number): string {
  const path = join(dir, `${name}.mmdb`)
  const networks = [['10.0.0.0/8', { country: { iso_code: 'DE' } }]] as const
  writeFileSync(path, writeMmdb({ type: 'Test-Country', ipVersion: 4, networks, buildEpoch }))
  return path
}

const databases = {
  'that of then': databaseOf('then', 1_800_000_000),
  'a newer one': databaseOf('newer', 1_800_000_001),
  none: null,
} as const
type Here = keyof typeof databases

/** A node that had this database for ten minutes; null: none. */
async function dataOf(name: string, database: string | null): Promise<string> {
  const dataDir = join(dir, name)
  const loaded = loadDatabases(database === null ? {} : { 'geoip.dbPath': database })
  if (!loaded.ok) throw new Error(loaded.error)
  const bundle = bundleOf(model)
  new BundleStore(dataDir).add(bundle.digest, bundle.bytes)
  const time = new FakeTime(startMs)
  const silent = (): void => undefined
  const journal = new Journal({
    ...{ directory: join(dataDir, 'journal'), bytesMax: 1e8, ageMaxMs: 1e10 },
    ...{ node: 'fra1', version: '0', clock: time.clock, after: time.after },
    log: { info: silent, warn: silent, error: silent },
    tables: () => loaded.value.releases,
  })
  const { digest } = bundle
  journal.serves({ digest, commit: '', seq: 1 }, bundle, createRoutingState(bundle, 1))
  journal.settled()
  time.pass(600_000)
  await journal.stop()
  return dataDir
}

const dataDirs = {
  with: await dataOf('with', databases['that of then']),
  without: await dataOf('without', null),
}

function settingsWith(database: string): string {
  const path = join(dir, 'gslbd.yaml')
  writeFileSync(path, `geoip: { dbPath: ${database} }\n`)
  return path
}

async function told(name: string, node: keyof typeof dataDirs, here: Here) {
  const database = databases[here]
  const settings = database === null ? [] : ['--settings', settingsWith(database)]
  const client = ['--client', '10.1.2.3', '--data-dir', dataDirs[node]]
  const { exit, out, err } = await runCli(
    ...['why', `${name}.example.org.`, '--at', at, ...client, ...settings],
  )
  expect([exit, err]).toEqual([Exit.Ok, ''])
  return out
}

describe('an answer by place', () => {
  test.each([
    ['place', 'with', 'that of then', 'certain', 'the database of then is here'],
    ['place', 'with', 'a newer one', 'unsure', 'another release is here'],
    ['place', 'with', 'none', 'unsure', 'none is here'],
    ['place', 'without', 'that of then', 'unsure', 'the node had none'],
    ['place', 'without', 'none', 'certain', 'the node had none, and none is here'],
    ['plain', 'with', 'none', 'certain', 'no step goes by a place'],
    ['one', 'with', 'none', 'certain', 'there is one candidate'],
    ['turns', 'with', 'none', 'unsure', 'turns chose among those of the place'],
    ['dice', 'with', 'none', 'unsure', 'the address chose among those of the place'],
  ] as const)('by %s, of a node %s a database, %s being here, is %s: %s', async (...row) => {
    const [name, node, here, word] = row
    expect(await told(name, node, here)).toMatch(new RegExp(`^${word} `, 'm'))
  })

  test('for an unknown name says nothing of where clients are', async () => {
    const out = await told('nobody', 'with', 'none')
    expect(out).toContain('NXDOMAIN')
    expect(out).not.toContain('a database is not the one of then')
  })

  test('shows all candidates and what names the database, and no share', async () => {
    const out = await told('place', 'with', 'none')
    expect(out).toContain('one of 192.0.2.1, 192.0.2.2')
    expect(out).toContain('the step geo-ip goes by it: it may have taken any candidate')
    expect(out).toContain('with geoip.dbPath in the settings (--settings FILE)')
    expect(out).not.toMatch(/--geoip|\d %/)
  })
})

describe('a way goes by the databases that it looks clients up in', () => {
  const places = ['geoip.dbPath', 'latency.geoipDBPath'] as const
  test.each([
    ['geo-ip', 'filter', [...places]],
    ['latency', 'algorithm', [...places]],
    ['latency', 'filter', []],
    ['asn', 'filter', ['asn.dbPath']],
    ['script', 'filter', [...places, 'asn.dbPath']],
    ['failover', 'filter', []],
    ['map-file', 'filter', []],
  ] as const)('%s as %s: %j', (name, use, expected) => {
    const named = ways.filter((way) => way.name === name && way.usedAs.includes(use))
    const all = [...places, 'asn.dbPath'] as const
    expect(named).not.toEqual([])
    const gone = all.filter((setting) => named.some((way) => goesBy(way, [setting])))
    expect(gone).toEqual(expected)
  })
})
