// gslbd simulate of services that look at the client: steps, scope, fallback, comparison.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { Exit } from '#system/process/command.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import { encode, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const run = (...argv: string[]) => runCli('simulate', ...argv)

function put(name: string, content: Uint8Array | string): string {
  const path = join(tempDir('simulate'), name)
  writeFileSync(path, content)
  return path
}

const model: BundleModel = {
  ...smallModel,
  pools: [
    pool(1, [
      member('192.0.2.1', { region: 'DE' }),
      member('192.0.2.2', { region: 'continent:EU', weight: 3 }),
      member('192.0.2.3', { region: 'JP' }),
    ]),
    pool(2, ['198.51.100.1', '198.51.100.2'], {
      geoRules: {
        v4: [{ start: 0x0a00_0000, end: 0x0aff_ffff, endpoints: ['198.51.100.2'] }],
        v6: [],
      },
    }),
    pool(3, ['203.0.113.1']),
  ],
  services: [
    service(1, 'geo.example.org.', { filterChain: ['geo-ip', 'round-robin'] }),
    service(2, 'ruled.example.org.', { algorithm: 'failover', pool: 1 }),
    service(3, 'safe.example.org.', { onAllDown: { pool: 2 }, pool: 0 }),
    service(4, 'all.example.org.', { onAllDown: 'all', pool: 0 }),
    service(5, 'many.example.org.', { answerCount: 2, pool: 0 }),
    service(6, 'dice.example.org.', { filterChain: ['weighted-round-robin'], pool: 0 }),
  ],
  routing: plainRouting,
}

const countries = (): string =>
  put(
    'country.mmdb',
    writeMmdb({
      type: 'Test-Country',
      networks: [
        ['10.0.0.0/8', { country: { iso_code: 'DE' } }],
        ['172.16.0.0/12', { country: { iso_code: 'FR' } }],
        ['198.51.100.0/24', { country: { iso_code: 'FR' }, subdivisions: [{ iso_code: 'IDF' }] }],
      ],
    }),
  )

async function simulated(name: string, ...args: string[]): Promise<Simulation> {
  const file = put('a.bundle', encode(model).bytes)
  const { exit, out, err } = await run(name, '--bundle', file, '--format', 'json', ...args)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  return JSON.parse(out) as Simulation
}

const health = (...down: string[]): string =>
  put('health.json', JSON.stringify(Object.fromEntries(down.map((name) => [name, false]))))
const allDown = ['pool-1/192.0.2.1', 'pool-1/192.0.2.2', 'pool-1/192.0.2.3']

describe('the client decides', () => {
  test.each([
    ['10.1.2.3', '192.0.2.1', 8],
    ['172.16.9.9', '192.0.2.2', 12],
    ['10.1.0.0/16', '192.0.2.1', 8],
    ['2001:db8::1', '192.0.2.1', 0],
  ])('%s gets %s with scope %i', async (client, pick, ecsScope) => {
    const args = ['--client', client, '--geoip', countries()]
    const result = await simulated('geo.example.org.', ...args)
    expect(result).toMatchObject({ ecsScope, service: { pick } })
  })

  test.each([
    ['10.1.2.3', 'country DE, continent EU', { country: 'DE', continent: 'EU' }],
    ['192.0.2.9', 'unknown to the database', { country: null, continent: null }],
    [
      '198.51.100.1',
      'subdivision FR-IDF, country FR, continent EU',
      { country: 'FR', continent: 'EU', subdivision: 'FR-IDF' },
    ],
  ])('by place, shown for %s with the regions of members', async (client, text, clientPlace) => {
    const args = ['--client', client, '--geoip', countries()]
    const file = put('a.bundle', encode(model).bytes)
    const { out } = await run('geo.example.org.', '--bundle', file, ...args)
    expect(out).toContain(`\nplace     ${text}\n`)
    expect(out).toMatch(/192\.0\.2\.1 .*, region DE\n/)
    expect(out).toMatch(/192\.0\.2\.2 .*, region continent:EU\n/)
    expect(await simulated('geo.example.org.', ...args)).toMatchObject({ service: { clientPlace } })
  })

  test('without a database the place is unknown; without such a step it is not told', async () => {
    const file = put('a.bundle', encode(model).bytes)
    const { out } = await run('geo.example.org.', '--bundle', file)
    expect(out).toContain('place     unknown: there is no database, name one with --geoip\n')
    const step = 'step      geo-ip: changes nothing; there is no geo database with countries\n'
    expect(out).toContain(step)
    const other = await run('dice.example.org.', '--bundle', file, '--geoip', countries())
    expect(other.out).not.toMatch(/^place|region/m)
  })

  test.each([
    ['AAAA', '"AAAA" is one too many: give one name, and --type AAAA'],
    ['b.example.org.', '"b.example.org." is one too many: give one name'],
  ])('a surplus argument %s is named', async (word, sentence) => {
    const { exit, err } = await run('a.example.org.', word)
    expect([exit, err.split('\n')[0]]).toEqual([Exit.Usage, `gslbd simulate: ${sentence}`])
  })

  test('a geo rule goes before the algorithm, and the text says so', async () => {
    const file = put('a.bundle', encode(model).bytes)
    const { out } = await run('ruled.example.org.', '--bundle', file, '--client', '10.9.9.9')
    expect(out).toContain('client    10.9.9.9, scope /8\n')
    expect(out).toContain('geo rule  sends the client to 198.51.100.2\n')
    expect(out).toContain('answer    198.51.100.2, TTL 60\n')
  })

  test.each([1, 2, 3, 4, 5, 6])('the steps end in the answer, seed %i', async (seed) => {
    const { service: shown } = await simulated('dice.example.org.', '--seed', String(seed))
    expect(shown?.trace?.steps.at(-1)?.after[0]).toBe(shown?.pick)
  })

  test('each step is shown with what it left', async () => {
    const file = put('a.bundle', encode(model).bytes)
    const args = ['--client', '10.1.2.3', '--geoip', countries(), '--count', '4']
    const { out } = await run('geo.example.org.', '--bundle', file, ...args)
    expect(out).toContain('among     192.0.2.1, 192.0.2.2, 192.0.2.3\n')
    expect(out).toContain('step      geo-ip: 192.0.2.1 (needs 8 bits of the client)\n')
    expect(out).toContain('step      round-robin: changes nothing (needs 8 bits of the client)\n')
  })
})

describe('when all are down', () => {
  test('the fallback pool answers', async () => {
    const result = await simulated('safe.example.org.', '--health', health(...allDown))
    expect(result.service).toMatchObject({ pick: '203.0.113.1', fallback: 'pool-3' })
  })

  test('all enabled members answer', async () => {
    const result = await simulated('all.example.org.', '--health', health(...allDown))
    expect(result.service?.distribution.map(({ ipAddress }) => ipAddress)).toEqual([
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.3',
    ])
  })
})

test('a reply holds as many addresses as the service wants, and all are shown', async () => {
  const { answerCount, service } = await simulated('many.example.org.', '--count', '3')
  expect(answerCount).toBe(2)
  expect(service).toMatchObject({ pick: '192.0.2.1', picks: ['192.0.2.1', '192.0.2.2'] })
  expect(service?.distribution).toContainEqual({
    ipAddress: '192.0.2.2',
    count: 1,
    places: [1, 1],
  })
  const file = put('a.bundle', encode(model).bytes)
  const { out } = await run('many.example.org.', '--bundle', file, '--count', '3')
  expect(out).toContain(
    'of 3 answers in a row: which address came first, and which were in it; seed 1\n' +
      '          192.0.2.1            1 (33.3 %), in 2\n',
  )
  expect(out).toContain('answer    192.0.2.1, 192.0.2.2, TTL 60\n')
})

test('score and round trip are assumed too', async () => {
  const file = put(
    'health.json',
    JSON.stringify({ 'pool-1/192.0.2.2': { healthy: true, score: 0.5, rttMs: 12.5 } }),
  )
  const result = await simulated('many.example.org.', '--health', file)
  const [, second] = result.service?.members ?? []
  expect(second).toMatchObject({ score: 0.5, rttMs: 12.5, standing: 'candidate' })
})

describe('a wrong call is explained', () => {
  test.each([
    [['--at', '2026-02-30T00:00:00Z'], 'is not a time; write'],
    [['--at', '2026-02-20T00:00:00'], 'has no zone; write'],
    [['--client', '192.0.2.1/33'], 'is not an IP address, nor a network'],
    [['--client', '192.0.2.x'], 'is not an IP address, nor a network'],
    [['--geoip', '/nowhere/city.mmdb'], '/nowhere/city.mmdb'],
  ])('%j', async (args, text) => {
    const file = put('a.bundle', encode(model).bytes)
    const { exit, err } = await run('geo.example.org.', '--bundle', file, ...args)
    expect(exit).toBe(Exit.Usage)
    expect(err).toContain(text)
  })
})
