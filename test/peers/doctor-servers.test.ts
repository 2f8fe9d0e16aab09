// `gslbd doctor` beside a real PostgreSQL and a real Redis: well, refusing and away.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Check } from '#cli/doctor/check.ts'
import { clock } from '#cli/doctor/clock.ts'
import { servers } from '#cli/doctor/servers.ts'
import { loadSettings } from '#settings/settings.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import { startRedis } from '#test/support/redis-server.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { copyFile } from '#zones/dynamic/local-copy.ts'

async function said(
  env: Readonly<Record<string, string>>,
  patienceMs = 30_000,
  dataDir = tempDir('doctor-stores'),
  check: Check = servers,
): Promise<readonly string[]> {
  const settings = loadSettings({ file: undefined, env, flags: { 'data-dir': dataDir } })
  if (!settings.ok) throw new Error(settings.error.join('\n'))
  const node = { settings: settings.value, env, zones: [], patienceMs }
  const findings = await check.look(node)
  return findings.map(({ verdict, found, todo = '' }) => `${verdict}: ${found}; ${todo}`)
}

test('a database and a Redis that answer, refuse, or are away', async () => {
  expect(await said({})).toEqual([
    'good: the settings name no source of bundles, no database and no Redis; ',
  ])
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const database = `postgresql://gslbd@127.0.0.1:${postgres.port}/`
  const well = { GSLB_DATABASE_URL: `${database}postgres`, GSLB_REDIS_URL: redis.url }
  const reached = 'good: the Redis of redis.url is reached, and takes writes; '
  const empty = 'good: the database of database.url is empty: the next start makes its tables; '
  expect(await said(well)).toEqual([empty, reached])
  // A look makes no tables.
  expect(await said(well)).toEqual([empty, reached])
  const ranBefore = tempDir('doctor-stores')
  writeFileSync(join(ranBefore, copyFile), '')
  expect((await said(well, undefined, ranBefore))[0]).toMatch(
    /^warning: .* is empty, and this node has run with one: .*; before that, restore a backup: /,
  )
  await postgres.sql("create table gslbd_schema as select 1 as version, '' as name")
  const used = 'good: the database of database.url can be used; '
  expect((await said(well))[0]).toBe(used)
  expect((await said(well, undefined, ranBefore))[0]).toBe(used)
  const wrong = { GSLB_DATABASE_URL: `${database}other`, GSLB_REDIS_URL: 'redis://127.0.0.1:1' }
  expect(await said(wrong, 500)).toEqual([
    expect.stringMatching(/^bad: .*\(3D000\)\. The server has no database of that name; see docs/),
    expect.stringMatching(/^warning: redis\.url: .*; see docs/),
  ])
  await postgres.stop()
  expect((await said(well))[0]).toMatch(/^bad: .*ECONNREFUSED/)
})

test('where Git is asked over SSH, the clock is compared with that of the database', async () => {
  const postgres = await startPostgres()
  onTestFinished(postgres.stop)
  const env = {
    GSLB_GITOPS_URL: 'git@git.example.net:config.git',
    GSLB_DATABASE_URL: `postgresql://gslbd@127.0.0.1:${postgres.port}/postgres`,
  }
  const clockSaid = () => said(env, 30_000, tempDir('doctor-stores'), clock)
  expect(await clockSaid()).toEqual(['good: the clock is that of the database of database.url; '])
  // From then on, this server says what a machine does whose clock is wrong.
  await postgres.sql(`create function public.clock_timestamp() returns timestamptz language sql
    as $$ select pg_catalog.clock_timestamp() + interval '10 minutes' $$`)
  await postgres.sql('alter role gslbd set search_path = public, pg_catalog')
  expect(await clockSaid()).toEqual([
    'bad: the clock and that of the database of database.url are 600 s apart; ' +
      'run a time service, such as systemd-timesyncd or chrony',
  ])
  await postgres.stop()
  expect((await clockSaid())[0]).toMatch(/^unknown: not compared: /)
})
