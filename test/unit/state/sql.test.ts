import fs from 'node:fs'
import { join } from 'node:path'
import { syncBuiltinESMExports } from 'node:module'
import { Kysely, PGliteDialect, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentState } from '#state/persistent.ts'
import { sqlFault } from '#state/sql/database/faults.ts'
import { migrate } from '#state/sql/database/migrate.ts'
import { migrations } from '#state/sql/database/migrations.ts'
import { openSql } from '#state/sql/database/sql.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Tables } from '#state/sql/database/tables.ts'
import { openPglite } from '#state/sql/database/open-pglite.ts'
import { createSqlUsers } from '#state/sql/users.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { newUser, valueOf } from '#test/support/store-values.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'

/** A database without a schema: the template without its own. Making one takes seconds. */
async function bareDatabase(dataDir: string): Promise<PGliteDialect> {
  await placeDatabase(dataDir)
  const pglite = await openPglite(join(dataDir, 'database'))
  await pglite.exec('drop schema public cascade; create schema public')
  return new PGliteDialect({ pglite })
}

describe('the schema', () => {
  const home = makeTempDir('schema')
  let db: Kysely<Tables>
  const versions = async (): Promise<readonly number[]> => {
    const rows = await db.selectFrom('gslbd_schema').select('version').orderBy('version').execute()
    return rows.map(({ version }) => version)
  }

  beforeAll(async () => {
    db = new Kysely<Tables>({ dialect: await bareDatabase(home) })
  })
  afterAll(async () => {
    await db.destroy()
    removeTempDir(home)
  })

  test('has steps that are numbered from 1 and only add', () => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, i) => i + 1))
    const statements = migrations.flatMap((migration) => migration.statements)
    const adds =
      /^\s*create |^\s*alter table \S+ add |^insert into [^]* on conflict \S+ do nothing$/
    expect(statements.filter((text) => !adds.test(text))).toEqual([])
  })

  test('a step has all of its text: nothing that changes elsewhere changes it', () => {
    const folder = new URL('../../../state/sql/migrations/', import.meta.url)
    const imports = fs.readdirSync(folder).flatMap((name) => {
      const text = fs.readFileSync(new URL(name, folder), 'utf8')
      return text.match(/^import .*/gm) ?? []
    })
    const form = "import type { Migration } from '#state/sql/database/migration.ts'"
    expect([...new Set(imports)]).toEqual([form])
  })

  test('a step that fails leaves nothing of itself', async () => {
    const broken = {
      version: migrations.length + 1,
      name: 'broken',
      statements: ['create table x (y text)', 'oops'],
    }
    await expect(migrate(db, [...migrations, broken], 1)).rejects.toThrow('oops')
    const tables = await db.introspection.getTables()
    expect(tables.map(({ name }) => name)).not.toContain('x')
  })

  test('is brought from any step to the newest, and then left alone', async () => {
    expect((await migrate(db, migrations.slice(0, 1), 1)).ok).toBe(true)
    expect(await versions()).toEqual([1])
    await sql`insert into users
      (id, email, email_key, display_name, role, tenant_id, auth_provider,
      created_at_ms, updated_at_ms)
      values ('u1', 'a', 'a', '', 'r', 't', 'password', 7, 7)`.execute(db)
    expect((await migrate(db, migrations, 2)).ok).toBe(true)
    expect((await migrate(db, migrations, 3)).ok).toBe(true)
    expect(await versions()).toEqual(migrations.map(({ version }) => version))
    await sql`delete from users`.execute(db)
    // So that nobody becomes the first one again where accounts were made before the mark.
    const mark = { key: 'accounts.begun', value: 'true', updated_at_ms: 7 }
    expect(await db.selectFrom('settings').selectAll().execute()).toEqual([mark])
  })

  test('has no mark at first; the first account sets it without a query of accounts', async () => {
    const said: string[] = []
    const logged = new Kysely<Tables>({
      dialect: await bareDatabase(tempDir('schema')),
      log: ({ query }) => void said.push(query.sql),
    })
    onTestFinished(() => logged.destroy())
    expect((await migrate(logged, migrations, 1)).ok).toBe(true)
    expect(await logged.selectFrom('settings').selectAll().execute()).toEqual([])
    const once: Sql['once'] = async (work) => ok(await work(logged))
    const users = createSqlUsers({ once } as Sql)
    for (const id of ['u1', 'u2']) {
      said.length = 0
      await valueOf(users.create(newUser(id, { createdAtMs: 7 })))
      expect(said.filter((text) => /insert into "settings"/.test(text))).toHaveLength(1)
      const looks = said.filter((text) => /\bfrom "?users\b/.test(text))
      expect(looks.filter((text) => !text.includes('where "tenant_id" ='))).toEqual([])
    }
    const mark = { key: 'accounts.begun', value: 'true', updated_at_ms: 7 }
    expect(await logged.selectFrom('settings').selectAll().execute()).toEqual([mark])
  })

  test("refuses a newer program's database with a sentence", async () => {
    const result = await migrate(db, migrations.slice(0, 1), 4)
    expect(result).toMatchObject({ ok: false })
    expect(!result.ok && result.error).toMatch(/has schema \d+, and this program knows .* up to 1/)
  })
})

test('the embedded database flushes, keeps and guards what it acknowledged', async () => {
  const dataDir = tempDir('embedded')
  await placeDatabase(dataDir)
  const options = { url: '', dataDir, clock: systemClock }
  const open = async (): Promise<PersistentState> => {
    const opened = await createPersistent(options)
    if (!opened.ok) throw new Error(opened.error)
    return opened.value
  }
  const first = await open()
  const flushes = countFlushes()
  await valueOf(first.users.create(newUser('u1')))
  expect(flushes()).toBeGreaterThan(0)
  await first.close()
  expect(await first.users.hasAny()).toMatchObject({ error: { code: 'store-away' } })
  const second = await open()
  expect(await valueOf(second.users.find('every-tenant', 'u1'))).not.toBeNull()
  const later = { version: 99, name: 'later', applied_at_ms: 1 }
  await valueOf(
    second.sql.repeatable(async (db) => {
      await db.insertInto('gslbd_schema').values(later).execute()
    }),
  )
  await second.close()
  const refused = await createPersistent(options)
  expect(refused).toMatchObject({
    ok: false,
    error: expect.stringContaining('schema 99') as string,
  })
})

test('a clock that is set back by years makes no timer that fires at once', async () => {
  const dataDir = tempDir('clock-back')
  await placeDatabase(dataDir)
  const database = await openPglite(join(dataDir, 'database'))
  const timers: { readonly fn: () => void; readonly delayMs: number }[] = []
  const { setTimeout: set } = globalThis
  const { now } = Date
  onTestFinished(async () => {
    Object.assign(globalThis, { setTimeout: set })
    Date.now = now
    await database.close()
  })
  const noted = (fn: () => void, delayMs = 0): unknown => {
    timers.push({ fn, delayMs })
    return set(fn, Math.min(delayMs, 60_000))
  }
  Object.assign(globalThis, { setTimeout: noted })
  await database.exec('create table t (a int); insert into t values (1)')
  // PostgreSQL looks at its statistics some seconds after a transaction.
  const look = timers.findLast(({ delayMs }) => delayMs >= 1_000)
  Date.now = () => now() - 1e11
  look?.fn()
  expect(timers.at(-1)).not.toBe(look)
  expect(timers.at(-1)?.delayMs).toBe(2 ** 31 - 1)
})

describe('a database whose tables are gone', () => {
  const home = makeTempDir('emptied')
  let db: Kysely<Tables>

  beforeAll(async () => {
    db = new Kysely<Tables>({ dialect: await bareDatabase(home) })
  })
  afterAll(async () => {
    await db.destroy()
    removeTempDir(home)
  })

  test('is away, and is there again with them', async () => {
    const connection = { db, close: () => Promise.resolve(), isBroken: () => false }
    const time = new FakeTime(0)
    const states: string[] = []
    const opened = await openSql(
      'postgresql',
      () => Promise.resolve(connection),
      time.clock,
      ({ state }) => {
        if (states.at(-1) !== state) states.push(state)
      },
    )
    if (!opened.ok) throw new Error(opened.error)
    const users = createSqlUsers(opened.value)
    const works = () => valueOf(opened.value.repeatable((any) => sql`select 1`.execute(any)))
    await sql`alter table users rename to gone`.execute(db)
    expect(await users.find('every-tenant', 'u1')).toMatchObject({ error: { code: 'store-away' } })
    expect(opened.value.status()).toMatchObject({
      state: 'away',
      fault: expect.stringMatching(/\(42P01\)\. .*was emptied.*restart the nodes/) as string,
    })
    for (let i = 0; i < 2; i++) {
      time.pass(59_000)
      await works()
      await users.find('every-tenant', 'u1')
    }
    expect(states, 'calls that need another table say nothing of it').toEqual(['up', 'away'])
    await sql`alter table gslbd_schema rename to steps`.execute(db)
    time.pass(60_000)
    await works()
    expect(opened.value.status().state, 'what needs no table says nothing of them').toBe('away')
    await sql`alter table steps rename to gslbd_schema`.execute(db)
    await sql`alter table gone rename to users`.execute(db)
    expect(await valueOf(users.find('every-tenant', 'u1'))).toBeNull()
    expect(opened.value.status()).toMatchObject({ state: 'up', fault: null })
    expect(states).toEqual(['up', 'away', 'up'])
  })

  test('is not there again by a call that had nothing to ask', async () => {
    const connection = { db, close: () => Promise.resolve(), isBroken: () => false }
    const opened = await openSql(
      'postgresql',
      () => Promise.resolve(connection),
      new FakeTime(0).clock,
    )
    if (!opened.ok) throw new Error(opened.error)
    const { repeatable, status } = opened.value
    const lost = Object.assign(new Error('lost'), { code: 'ECONNRESET' })
    expect(await repeatable(() => Promise.reject(lost))).toMatchObject({ ok: false })
    // As behind a network that was cut.
    await sql`alter table gslbd_schema rename to steps`.execute(db)
    expect(await valueOf(repeatable(() => Promise.resolve([])))).toEqual([])
    expect(status().state).toBe('away')
    await sql`alter table steps rename to gslbd_schema`.execute(db)
    await valueOf(repeatable(() => Promise.resolve([])))
    expect(status().state).toBe('up')
  })

  test('gets no new ones by a node that had them and connects again', async () => {
    let isBroken = true
    const connection = { db, close: () => Promise.resolve(), isBroken: () => isBroken }
    const time = new FakeTime(0)
    const opened = await openSql('postgresql', () => Promise.resolve(connection), time.clock)
    if (!opened.ok) throw new Error(opened.error)
    const users = createSqlUsers(opened.value)
    const run = (text: string) => sql.raw(text).execute(db)
    await run('alter schema public rename to kept')
    await run('create schema public')
    const stateAfter = async (): Promise<string> => {
      time.pass(60_000)
      await users.find('every-tenant', 'u1')
      return opened.value.status().state
    }
    expect(await stateAfter()).toBe('away')
    expect(opened.value.status().fault).toMatch(/\(42P01\)\. .*was emptied.*restart the nodes/)
    // A restore makes the tables before their rows.
    await run('create table gslbd_schema (version integer)')
    expect(await stateAfter()).toBe('away')
    await run('drop schema public cascade')
    await run('alter schema kept rename to public')
    expect(await stateAfter()).toBe('up')
    isBroken = false
    expect(await valueOf(users.find('every-tenant', 'u1'))).toBeNull()
  })
})

/** How often a file is flushed from now on, to the end of the test. */
function countFlushes(): () => number {
  const real = fs.fsyncSync
  let count = 0
  fs.fsyncSync = (fd) => {
    count++
    real(fd)
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    fs.fsyncSync = real
    syncBuiltinESMExports()
  })
  return () => count
}

test.each([
  ['postgres://', 'database.url'],
  ['mysql://root:secret-word@db/x', 'database.url'],
  ['db.example.com', 'database.url'],
])('the URL %s is refused without being repeated', async (url, word) => {
  const result = await createPersistent({ url, dataDir: '', clock: systemClock })
  expect(result).toMatchObject({ ok: false })
  expect(!result.ok && result.error).toContain(word)
  expect(!result.ok && result.error).not.toContain('secret-word')
})

test.each([
  [{ code: 'ECONNREFUSED' }, 'untouched'],
  [{ code: '57P03' }, 'untouched'],
  [{ code: '40001' }, 'untouched'],
  [{ code: '42P01' }, 'untouched'],
  [{ code: '42703' }, 'untouched'],
  [{ code: '42501' }, 'untouched'],
  [{ code: '3F000' }, 'untouched'],
  [{ code: 'ECONNRESET' }, 'unknown'],
  [{ code: 'EPIPE' }, 'unknown'],
  [{ code: '08006' }, 'unknown'],
  [{}, 'unknown'],
  [{ code: '22021' }, 'refused'],
  [{ code: '23505' }, 'refused'],
  [{ code: '42601' }, 'bug'],
])('an error with %j means that the call is: %s', (parts, kind) => {
  expect(sqlFault(Object.assign(new Error('x'), parts)).kind).toBe(kind)
})
