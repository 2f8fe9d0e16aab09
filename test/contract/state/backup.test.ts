import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { backupName, takeBackup } from '#state/backup/backups.ts'
import { BackupSum } from '#state/backup/format.ts'
import { checkBackup, filesOf } from '#state/backup/restore-backup.ts'
import { writeBackup } from '#state/backup/write-backup.ts'
import type { FileToKeep } from '#state/backup/write-backup.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { copyThrough, everything, fill, restoreFrom } from '#test/support/filled-state.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { emptyTables } from '#test/support/sql-tables.ts'
import { newUser, valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'

describe.each(persistentAdapters)('a backup of %s', (_name, adapter) => {
  const state = useState(adapter)

  test('brings everything back, and what was counted once still counts once', async () => {
    const path = join(tempDir('backup'), 'x.db')
    await fill(state())
    const before = await everything(state())
    expect((await writeBackup(state().sql, path, 1_000)).ok).toBe(true)
    const checked = await checkBackup(path)
    expect(checked).toMatchObject({ ok: true, value: { sealed: 'v1.sealed' } })
    await emptyTables(state().sql)
    const told: number[] = []
    const restored = await restoreFrom(path, state().sql, (count) => told.push(count))
    expect(restored).toMatchObject({ ok: true })
    expect(restored.ok && restored.value).toBeGreaterThan(1_200)
    expect(told.length).toBeGreaterThan(3)
    expect(restored).toEqual({ ok: true, value: told.at(-1) })
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(await everything(state())).toEqual(before)
    const again = [{ tenantId: 'acme', period: '100000', dnsQueries: 1, apiCalls: 1 }]
    await valueOf(state().usage.add({ id: 'b1', nowMs: 1, records: again }))
    const hits = new Map([['r1', 1]])
    await valueOf(state().responseHits.add({ id: 'b1', nowMs: 1, hits }))
    expect(await everything(state())).toEqual(before)
  })

  test('brings back no word of the nodes that ran: another one may take their place', async () => {
    const path = join(tempDir('backup'), 'x.db')
    const { alerts } = state()
    await fill(state())
    expect(await valueOf(alerts.reports())).toMatchObject([{ node: 'n1' }])
    const before = await valueOf(alerts.lease())
    expect((await writeBackup(state().sql, path, 1_000)).ok).toBe(true)
    await emptyTables(state().sql)
    expect((await restoreFrom(path, state().sql)).ok).toBe(true)
    expect(await valueOf(alerts.reports())).toEqual([])
    // Nobody waits until it is over, and the next term is above it.
    expect(await valueOf(alerts.lease())).toEqual({ ...before, holder: '' })
  })

  test('sets the mark of the first account if its schema had none', async () => {
    const path = join(tempDir('backup'), 'x.db')
    await valueOf(state().users.create(newUser('u1')))
    await valueOf(state().settings.delete('accounts.begun'))
    expect((await writeBackup(state().sql, path, 1_000)).ok).toBe(true)
    await emptyTables(state().sql)
    expect((await restoreFrom(path, state().sql)).ok).toBe(true)
    await valueOf(state().users.delete('every-tenant', 'u1'))
    expect(await valueOf(state().users.hadAny())).toBe(true)
  })

  test('an empty database has one, too', async () => {
    const path = join(tempDir('backup'), 'x.db')
    expect(await copyThrough(path, state(), state())).toBe(0)
  })

  test('is one moment, whatever is written meanwhile', async () => {
    const path = join(tempDir('backup'), 'x.db')
    const record = { tenantId: 'w', period: '100000', dnsQueries: 1, apiCalls: 0 }
    await fill(state())
    let isOver = false
    const writing = (async () => {
      for (let n = 0; !isOver; n++) {
        await valueOf(state().usage.add({ id: `w${n}`, nowMs: 1, records: [record] }))
        // A database in this thread would leave no turn to the files otherwise.
        await setImmediate()
      }
    })()
    for (let round = 0; round < 3; round++) {
      expect((await writeBackup(state().sql, path, 1_000)).ok).toBe(true)
    }
    isOver = true
    await writing
    await emptyTables(state().sql)
    expect((await restoreFrom(path, state().sql)).ok).toBe(true)
    // One transaction wrote the hour and the batch, and they are in two tables.
    const [hour] = await valueOf(state().usage.range('w', '100000', '100000'))
    const batches = await valueOf(
      state().sql.repeatable((db) =>
        db.selectFrom('usage_batches').select('id').where('id', 'like', 'w%').execute(),
      ),
    )
    expect(batches.length).toBeGreaterThan(0)
    expect(hour?.dnsQueries).toBe(batches.length)
  })

  test('can be read by its owner only, and leaves nothing half-written', async () => {
    const directory = tempDir('backup')
    await writeBackup(state().sql, join(directory, 'x.db'), 1_000)
    expect(statSync(join(directory, 'x.db')).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['x.db'])
    const nowhere = await writeBackup(state().sql, join(directory, 'none', 'x.db'), 1_000)
    expect(nowhere).toMatchObject({ ok: false })
    expect(!nowhere.ok && nowhere.error).toContain('ENOENT')
    expect(state().status()).toMatchObject({ state: 'up' })
  })

  test('has the files of the node, whole, behind the rows', async () => {
    const path = join(tempDir('backup'), 'x.db')
    await valueOf(state().users.create(newUser('u1')))
    const large = randomBytes(1_000_000)
    const files: readonly FileToKeep[] = [
      { name: 'keys/node.pem', octets: [Buffer.from('a key')] },
      { name: 'allowed_signers', octets: [] },
      { name: 'config.bundle', octets: [large.subarray(0, 700_001), large.subarray(700_001)] },
    ]
    expect(await writeBackup(state().sql, path, 1_000, files)).toMatchObject({ ok: true })
    await emptyTables(state().sql)
    expect((await restoreFrom(path, state().sql)).ok).toBe(true)
    expect(await valueOf(state().users.hasAny())).toBe(true)
    expect(await contents(path)).toEqual({
      ...{ 'keys/node.pem': Buffer.from('a key'), allowed_signers: Buffer.alloc(0) },
      'config.bundle': large,
    })
  })

  test('a database that has something is left alone', async () => {
    const path = join(tempDir('backup'), 'x.db')
    await valueOf(state().users.create(newUser('u1')))
    await writeBackup(state().sql, path, 1_000)
    const result = await restoreFrom(path, state().sql)
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringContaining('not empty') as string,
    })
  })

  const damages: readonly [string, (bytes: Buffer) => Buffer, RegExp][] = [
    ['cut', (bytes) => bytes.subarray(0, bytes.length - 40), /cut or changed/],
    ['cut at a line', (bytes) => rewritten(bytes, (lines) => lines.slice(0, -1)), /cut or changed/],
    ['changed', (bytes) => rewritten(bytes, (lines) => swapped(lines, 'User', 'Evil')), /changed/],
    ['empty', () => Buffer.alloc(0), /cut or changed/],
    ['not gzip', () => Buffer.from('select 1;'), /cut or changed/],
    [
      'of another program',
      (b) => rewritten(b, (l) => swapped(l, 'gslbd-', 'other-')),
      /not a backup/,
    ],
    [
      'of a newer program',
      (b) => rewritten(b, (l) => swapped(l, '"schema":', '"schema":9')),
      /newer/,
    ],
    [
      'of other tables',
      (b) => rewritten(b, (l) => swapped(l, '"table":"users"', '"table":"pg_authid"')),
      /cut or changed/,
    ],
  ]

  test.each(damages)('a file that is %s is refused whole', async (_what, damage, sentence) => {
    const path = join(tempDir('backup'), 'x.db')
    await valueOf(state().users.create(newUser('u1')))
    await writeBackup(state().sql, path, 1_000)
    await emptyTables(state().sql)
    writeFileSync(path, damage(readFileSync(path)))
    const result = await restoreFrom(path, state().sql)
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(sentence) as string })
    expect(await valueOf(state().users.hasAny())).toBe(false)
  })

  test('the newest are kept, and files of other names', async () => {
    const directory = join(tempDir('backup'), 'below')
    const time = new FakeTime(Date.UTC(2026, 11, 31, 23, 30, 5))
    mkdirSync(directory)
    writeFileSync(join(directory, 'gslbd-notes.db'), '')
    for (let i = 0; i < 4; i++) {
      const taken = await takeBackup(state().sql, { directory, keep: 2 }, time.clock)
      expect(taken).toMatchObject({
        ok: true,
        value: { removed: i < 2 ? [] : [expect.anything()] },
      })
      time.pass(3_600_000)
    }
    expect(readdirSync(directory).toSorted()).toEqual([
      'gslbd-20270101T013005.db',
      'gslbd-20270101T023005.db',
      'gslbd-notes.db',
    ])
    for (let i = 0; i < 3; i++) {
      expect((await takeBackup(state().sql, { directory, keep: 0 }, time.clock)).ok).toBe(true)
      time.pass(3_600_000)
    }
    expect(readdirSync(directory)).toHaveLength(6)
  })
})

describe('a backup without a database', () => {
  test('backups of a clock that was ahead are the first to go', async () => {
    const directory = tempDir('backup')
    const time = new FakeTime(Date.UTC(2026, 11, 31, 23, 30, 5))
    for (const year of [2029, 2028]) {
      writeFileSync(join(directory, `gslbd-${year}0101T000000.db`), '')
    }
    const removed: string[] = []
    for (let i = 0; i < 3; i++) {
      const taken = await takeBackup(null, { directory, keep: 2 }, time.clock)
      removed.push(...(taken.ok ? taken.value.removed : ['none was taken']))
      time.pass(3_600_000)
    }
    expect(removed).toEqual([
      'gslbd-20280101T000000.db',
      'gslbd-20290101T000000.db',
      'gslbd-20261231T233005.db',
    ])
  })

  const written = async (files: readonly FileToKeep[] = [key]): Promise<string> => {
    const path = join(tempDir('backup'), 'x.db')
    expect(await writeBackup(null, path, 1_000, files)).toEqual({ ok: true, value: 0 })
    return path
  }
  const key: FileToKeep = { name: 'keys/node.pem', octets: [Buffer.from('a key')] }

  test('has the files alone', async () => {
    const path = await written()
    const files = new Set(['keys/node.pem'])
    const whole = { path, rows: 0, createdAtMs: 1_000, files, hasNodeList: true, sealed: null }
    expect(await checkBackup(path)).toEqual({ ok: true, value: whole })
  })

  const twice = (lines: string[]): string[] => [...lines.slice(0, -1), ...lines.slice(1, -1)]
  const far = '../../etc/cron.d/x'
  const changes: readonly [string, (lines: string[]) => string[]][] = [
    ['a file of another name', (lines) => swapped(lines, 'keys/node.pem', far)],
    ['a file that comes twice', twice],
    ['octets of no file', (lines) => lines.filter((line) => !line.startsWith('{"file"'))],
    [
      'a file that is too large',
      (lines) =>
        lines.flatMap((line) => Array<string>(line.startsWith('{"oct') ? 20_000 : 1).fill(line)),
    ],
    ['a row behind the files', (lines) => [...lines.slice(0, -1), '{"id":1}']],
  ]
  test.each(changes)('with %s is refused, though its sum is right', async (_what, change) => {
    const path = await written()
    const lines = change(gunzipSync(readFileSync(path)).toString().trimEnd().split('\n'))
    const body = lines.filter((line) => !line.startsWith('{"rows"'))
    const sum = new BackupSum()
    for (const line of body) sum.add(line)
    const end = JSON.stringify({ rows: 0, sha256: sum.digest() })
    writeFileSync(path, gzipSync([...body, end].join('\n')))
    expect(await checkBackup(path)).toMatchObject({
      ok: false,
      error: expect.stringContaining('cut or changed') as string,
    })
  })

  test('is read at every place at which it may be cut, and refused', async () => {
    const path = await written()
    const whole = readFileSync(path)
    for (let bytes = 0; bytes < whole.length; bytes++) {
      writeFileSync(path, whole.subarray(0, bytes))
      expect((await checkBackup(path)).ok).toBe(false)
    }
  })

  test('is not written where a file is too large', async () => {
    const path = join(tempDir('backup'), 'x.db')
    const large: FileToKeep = { name: 'keys/node.pem', octets: [Buffer.alloc(65_537)] }
    expect(await writeBackup(null, path, 1_000, [large])).toMatchObject({
      ok: false,
      error: expect.stringContaining('keys/node.pem is too large') as string,
    })
    expect(existsSync(path)).toBe(false)
  })
})

async function contents(path: string): Promise<Record<string, Buffer>> {
  const files: Record<string, Buffer> = {}
  for await (const { name, octets } of filesOf({ path })) {
    files[name] = Buffer.concat([files[name] ?? Buffer.alloc(0), octets])
  }
  return files
}

test('a name is the moment in UTC', () => {
  expect(backupName(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe('gslbd-20260102T030405.db')
})

function rewritten(bytes: Buffer, change: (lines: string[]) => string[]): Buffer {
  return gzipSync(change(gunzipSync(bytes).toString().trimEnd().split('\n')).join('\n') + '\n')
}

const swapped = (lines: string[], from: string, to: string): string[] =>
  lines.map((line) => line.replace(from, to))
