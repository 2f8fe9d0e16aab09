// Tests a node's periodic work with its database, on the embedded database, and the way back.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { withLoneState } from '#node/stores/stopped-state.ts'
import { createNodeRecords } from '#node/stores/records.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { createJobRunner } from '#jobs/runner.ts'
import type { Timers } from '#jobs/runner.ts'
import { jobs } from '#jobs/table.ts'
import type { JobContext } from '#jobs/table.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { Random } from '#lib/random.ts'
import { BackupSum } from '#state/backup/format.ts'
import type { PersistentState } from '#state/persistent.ts'
import { placeDatabase } from '../../../support/database-template.ts'
import { FakeTime } from '../../../support/fake-time.ts'
import { everything, fill } from '../../../support/filled-state.ts'
import { freePort } from '../../../support/free-port.ts'
import { onlyLong } from '../../../support/lane.ts'
import { runCli } from '../../../support/run-cli.ts'
import { auditEntry, valueOf } from '../../../support/store-values.ts'
import { makeTempDir, removeTempDir, tempDir } from '../../../support/temp-dir.ts'
import { waitUntil } from '../../../support/wait-until.ts'

function settingsOf(dataDir: string): Settings {
  const loaded = loadSettings({ env: {}, flags: { 'data-dir': dataDir } })
  if (!loaded.ok) throw new Error(loaded.error.join())
  return { ...loaded.value, api: { ...loaded.value.api, enabled: true } }
}

const ignore = (): void => undefined
const quiet = { info: ignore, warn: ignore, error: ignore }

const unused = { takeUsed: () => ({ names: [], members: [], rules: [] }), objects: () => null }

/** The records of a node with backups each hour, of which two are kept. */
function scene() {
  const dataDir = makeTempDir('records')
  const directory = join(dataDir, 'backups')
  const time = new FakeTime(Date.UTC(2026, 0, 2, 3))
  const lines: string[] = []
  const note = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level}: ${message}`)
  const queries = new Map<string, number>()
  const hits = new Map<string, number>()
  const backup = { enabled: true, intervalMs: 3_600_000, keep: 2, directory }
  const records = createNodeRecords({
    settings: { ...settingsOf(dataDir), backup },
    takeQueries: () => {
      const taken = new Map(queries)
      queries.clear()
      return taken
    },
    responseHits: () => new Map(hits),
    use: unused,
    clock: time.clock,
    log: { info: note('info'), warn: note('warn'), error: note('error') },
  })
  const open = async (): Promise<PersistentState> => {
    const opened = await records.state.open()
    if (!opened.ok) throw new Error(opened.error)
    return opened.value
  }
  return { dataDir, directory, time, lines, queries, hits, records, open }
}

test('a node that has stored nothing makes no database for any of it', async () => {
  const { dataDir, records, queries } = scene()
  await records.jobs.backUp()
  await records.jobs.pruneAudit()
  queries.set('acme', 1)
  await records.close()
  expect(readdirSync(dataDir)).toEqual([])
  removeTempDir(dataDir)
})

describe('a database that cannot be opened is an error in the log and in the answer', () => {
  const failure = async (dataDir: string, url: string) => {
    const lines: { level: string; fields: object; message: string }[] = []
    const note = (level: string) => (fields: object, message: string) =>
      void lines.push({ level, fields, message })
    const records = createNodeRecords({
      settings: { ...settingsOf(dataDir), database: { ...settingsOf(dataDir).database, url } },
      takeQueries: () => new Map(),
      responseHits: () => new Map(),
      use: unused,
      clock: systemClock,
      log: { info: note('info'), warn: note('warn'), error: note('error') },
    })
    const found = await records.state.persistent.users.hasAny()
    await records.state.persistent.users.hasAny()
    await records.state.close()
    if (found.ok) throw new Error('the database was opened')
    const [line, ...others] = lines
    expect([line?.level, others]).toEqual(['error', []])
    return { answer: found.error.message, fields: line?.fields, message: line?.message ?? '' }
  }

  test('with its directory and the way back, where it is in the data directory', async () => {
    const dataDir = tempDir('broken')
    await placeDatabase(dataDir)
    const made = await withLoneState(settingsOf(dataDir), async ({ users }) =>
      ok(await valueOf(users.hasAny())),
    )
    expect(made).toEqual(ok(false))
    const directory = join(dataDir, 'database')
    rmSync(join(directory, 'global'), { recursive: true })
    const { answer, fields, message } = await failure(dataDir, '')
    expect(answer).toBe(
      'The database in the data directory cannot be opened (it does not start). ' +
        'If it is damaged, move it away and restore a backup.',
    )
    expect(fields).toEqual({ code: 'store-away', directory })
    expect(message).toContain(`stop the node, move ${directory} away, and run gslbd restore FILE`)
  })

  // The write is tried several times.
  onlyLong(() => {
    test('with the words of the system, and no damage, where it cannot be made', async () => {
      const dataDir = tempDir('refused')
      // A link to itself: refused to everybody, as a folder without rights is to all but root.
      symlinkSync('database', join(dataDir, 'database'))
      const { answer, message } = await failure(dataDir, '')
      expect(answer).toMatch(/^The database in the data directory cannot be opened \(E[A-Z]+\)\./)
      expect(answer + message).not.toMatch(/damaged|restore/)
    })
  })

  test('with the setting and the host, without the password, where it is a server', async () => {
    const port = await freePort()
    const url = `postgresql://gslbd:secret-word@127.0.0.1:${port}/gslbd`
    const { answer, fields, message } = await failure(tempDir('away'), url)
    expect(answer).toBe('The database of database.url cannot be opened (ECONNREFUSED).')
    expect(fields).toEqual({ code: 'store-away', setting: 'database.url', host: '127.0.0.1' })
    expect(message).toMatch(/^no logins, .*ECONNREFUSED.* Look whether the server runs/)
    expect(message).not.toContain('secret-word')
  })
})

test.each([[[]], [['a', 'b']]])('gslbd restore %j is a wrong call', async (args) => {
  const run = await runCli('restore', ...args)
  expect(run).toMatchObject({ exit: 2, err: expect.stringContaining('name one backup') as string })
})

test.each(['nofile', 'cut'])('gslbd restore %s leaves no data directory behind', async (name) => {
  const parent = tempDir('unrestored')
  if (name === 'cut') writeFileSync(join(parent, name), gzipSync('{"format":"gslbd-backup"'))
  const dataDir = join(parent, 'new')
  const run = await runCli('restore', join(parent, name), '--data-dir', dataDir)
  expect(run).toMatchObject({ exit: 1, err: expect.stringContaining(join(parent, name)) as string })
  expect(existsSync(dataDir)).toBe(false)
})

describe('gslbd restore, where a backup is whole and not taken,', () => {
  let parent: string
  let path: string
  beforeEach(() => {
    parent = tempDir('unrestored')
    path = join(parent, 'file.db')
    const header = { format: 'gslbd-backup', version: 1, schema: 1, createdAtMs: 1 }
    const rows = [header, { table: 'roles', columns: ['id'] }, { id: null }]
    const lines = rows.map((row) => JSON.stringify(row))
    const sum = new BackupSum()
    for (const line of lines) sum.add(line)
    const end = JSON.stringify({ rows: 1, sha256: sum.digest() })
    writeFileSync(path, gzipSync([...lines, end].join('\n')))
  })
  const refused = {
    exit: 1,
    err: expect.stringContaining('Nothing was restored') as string,
  }

  // Each makes a database, which takes seconds.
  onlyLong(() => {
    test('takes away what it made, the folders above included', async () => {
      const run = await runCli('restore', path, '--data-dir', join(parent, 'some', 'where', 'new'))
      expect(run).toMatchObject(refused)
      expect(readdirSync(parent)).toEqual(['file.db'])
    })

    const places = [
      ['a new directory', []],
      ['a directory that was there, as what was in it', ['keys', 'config.git']],
    ] as const
    test.each(places)('leaves what is put into %s', async (_, before) => {
      const dataDir = join(parent, 'some')
      for (const name of before) mkdirSync(join(dataDir, name), { recursive: true })
      const running = runCli('restore', path, '--data-dir', dataDir)
      await waitUntil('the database', () => existsSync(join(dataDir, 'database')))
      for (const name of ['allowed_signers', 'keys/k']) writeFileSync(join(dataDir, name), 'mine')
      expect(await running).toMatchObject(refused)
      const left = new Set(['allowed_signers', 'keys', ...before])
      expect(new Set(readdirSync(dataDir))).toEqual(left)
    })
  })

  test('takes nothing away where it does not get the directory', async () => {
    // To a test, a link that leads nowhere is what a node is that starts at the same moment: there
    // is nothing at first, and then no lock to be had.
    const dataDir = join(parent, 'link')
    symlinkSync('later', dataDir)
    const run = await runCli('restore', path, '--data-dir', dataDir)
    expect(run).toMatchObject({ exit: 1, err: expect.stringContaining('cannot be made') as string })
    expect(readdirSync(parent)).toEqual(['file.db', 'link'])
  })
})

/** All tests share a database, in this order, since making one takes seconds. */
describe('a node with a database', () => {
  const { dataDir, directory, time, lines, queries, hits, records, open } = scene()
  const { usage, audit } = records.state.persistent
  const day = ['2026-01-02T00', '2026-01-02T23'] as const
  const hour = { tenantId: 'wide', period: '2026-01-02T03' }
  const from = <T>(path: string, read: (state: PersistentState) => Promise<T>): Promise<T> =>
    withLoneState(settingsOf(path), async (state) => ok(await read(state))).then((result) => {
      if (!result.ok) throw new Error(result.error)
      return result.value
    })
  let before: unknown
  beforeAll(async () => {
    await placeDatabase(dataDir)
    await fill(await open())
  })
  afterAll(async () => {
    await records.close()
    removeTempDir(dataDir)
  })

  test('loses what is too old in the copy of the audit log', async () => {
    const nowMs = time.clock.nowMs()
    await valueOf(audit.append([auditEntry('new', { atMs: nowMs })]))
    await records.jobs.pruneAudit()
    const all = { scope: 'every-tenant', fromMs: 0, toMs: nowMs + 1, limit: 10 } as const
    expect((await valueOf(audit.query(all))).entries.map(({ id }) => id)).toEqual(['new'])
  })

  test('has the usage in it after each flush', async () => {
    queries.set('wide', 5)
    records.countCall('wide')
    await records.jobs.flushUsage()
    const found = await valueOf(usage.range('wide', ...day))
    expect(found).toEqual([{ ...hour, dnsQueries: 5, apiCalls: 1 }])
  })

  test('has the hits of response rules in it after each flush', async () => {
    hits.set('rule', 5)
    await records.jobs.flushResponseHits()
    expect([...(await valueOf((await open()).responseHits.totals()))]).toEqual([['rule', 5]])
    hits.set('rule', 7)
    expect([...(await records.responseHits())]).toEqual([['rule', 7]])
  })

  test('is backed up when that is due, and keeps so many backups', async () => {
    before = await everything(await open())
    for (const passed of [0, 59, 1, 60, 60]) {
      time.pass(passed * 60_000)
      await records.jobs.backUp()
    }
    const names = readdirSync(directory).toSorted()
    expect(names).toEqual(['gslbd-20260102T050000.db', 'gslbd-20260102T060000.db'])
    expect(lines).toEqual(Array.from({ length: 4 }, () => 'info: backup taken'))
  })

  test('is looked at so often that a backup is a few seconds late at most', async () => {
    const firstMs = time.clock.nowMs()
    const timers: Timers = { after: time.after, cancel: (cancel) => (cancel as () => void)() }
    const runs: Promise<void>[] = []
    const backUp = (): Promise<void> => {
      const run = records.jobs.backUp()
      runs.push(run)
      return run
    }
    const context = { backUp } as unknown as JobContext
    const parts = { context, timers, random: new Random(1), log: quiet }
    const runner = createJobRunner({
      jobs: jobs.filter(({ name }) => name === 'back-up'),
      ...parts,
    })
    runner.start()
    const known = new Set(readdirSync(directory))
    const isNew = (name: string): boolean => !known.has(name)
    while (!readdirSync(directory).some(isNew) && time.clock.nowMs() - firstMs < 2 * 3_600_000) {
      time.pass(1_000)
      await runs.at(-1)
      await setImmediate()
    }
    await runner.stop()
    const lateMs = time.clock.nowMs() - firstMs - 3_600_000
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(8_000)
  })

  test('says that no backup can be taken, until one can', async () => {
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')
    await records.jobs.backUp()
    expect(records.isBackedUp()).toBe(false)
    expect(lines.at(-1)).toMatch(/^error: no backup, tried again in a minute: .*backup\.directory/)
    rmSync(directory)
    time.pass(59_000)
    await records.jobs.backUp()
    expect(records.isBackedUp()).toBe(false)
    time.pass(1_000)
    await records.jobs.backUp()
    expect(records.isBackedUp()).toBe(true)
    time.pass(61_000)
    expect(records.backupAgeSeconds()).toBe(61)
  })

  test('has the last counts in it when it ends', async () => {
    queries.set('wide', 2)
    await records.close()
    const read = (state: PersistentState) => valueOf(state.usage.range('wide', ...day))
    expect(await from(dataDir, read)).toEqual([
      { ...hour, dnsQueries: 5, apiCalls: 1 },
      { ...hour, period: '2026-01-02T07', dnsQueries: 2, apiCalls: 0 },
    ])
  })

  onlyLong(() => {
    test('comes back from a backup as it was', async () => {
      const other = tempDir('restored')
      const [name = ''] = readdirSync(directory)
      const run = await runCli('restore', join(directory, name), '--data-dir', other)
      expect(run).toMatchObject({ exit: 0, err: '' })
      expect(run.out).toMatch(/^\d+ rows restored/)
      expect(await from(other, everything)).toEqual(before)
    })
  })
})
