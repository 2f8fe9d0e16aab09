// A first start unpacks the empty database that the program brings, or makes one where it cannot.
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { templateDigest, unpackTemplate } from '#state/sql/database/database-template.ts'
import { migrations } from '#state/sql/database/migrations.ts'
import { pgliteDriver } from '#state/sql/database/pglite.ts'
import { openSql } from '#state/sql/database/sql.ts'
import { databaseTemplate } from '#test/support/database-template.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const { signal } = new AbortController()
const template = await databaseTemplate()
const octets = readFileSync(template)

test('an unpacked database has the schema, and keeps what it is given', async () => {
  const directory = join(tempDir('unpacked'), 'database')
  for (const expected of ['1', '2']) {
    const opened = await openSql('embedded', pgliteDriver(directory, [template]), systemClock)
    if (!opened.ok) throw new Error(opened.error)
    const { once, repeatable, close } = opened.value
    const row = { key: `k${expected}`, value: 'v', updated_at_ms: 1 }
    expect(await once((db) => db.insertInto('settings').values(row).execute())).toMatchObject({
      ok: true,
    })
    const rows = await repeatable((db) => db.selectFrom('settings').select('key').execute())
    expect(rows).toMatchObject({ ok: true, value: { length: Number(expected) } })
    const schema = await repeatable((db) => db.selectFrom('gslbd_schema').selectAll().execute())
    expect(schema).toMatchObject({ ok: true, value: { length: migrations.length } })
    await close()
  }
})

test('unpacked files are accessible to their owner only', async () => {
  const directory = join(tempDir('modes'), 'database')
  await unpackTemplate(template, directory, signal)
  const names = ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })]
  const shared = names.filter((name) => (statSync(join(directory, name)).mode & 0o077) !== 0)
  expect(shared).toEqual([])
})

test('the unpacked log takes its 16 MiB on the disk, and no lock file comes along', async () => {
  const directory = join(tempDir('files'), 'database')
  expect(await unpackTemplate(template, directory, signal)).toBe(true)
  const logs = readdirSync(join(directory, 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name))
  expect(logs).toHaveLength(1)
  const { size, blocks } = statSync(join(directory, 'pg_wal', logs[0]!))
  expect([size, blocks * 512 >= size]).toEqual([2 ** 24, true])
  expect(readdirSync(directory)).not.toContain('postmaster.pid')
  expect(octets.length).toBeLessThan(1_500_000)
})

const other = (): Buffer => {
  const text = zstdDecompressSync(octets).toString('latin1')
  const changed = text.replace(templateDigest(), '0'.repeat(64))
  return zstdCompressSync(Buffer.from(changed, 'latin1'))
}
const flipped = (at: number): Buffer => {
  const copy = Buffer.from(octets)
  copy[at]! ^= 1
  return copy
}

test.each<[string, () => Buffer]>([
  ['empty', () => Buffer.alloc(0)],
  ['cut', () => octets.subarray(0, octets.length - 1000)],
  ['flipped at the start', () => flipped(0)],
  ['flipped in the middle', () => flipped(octets.length >> 1)],
  ['flipped at the end', () => flipped(octets.length - 1)],
  ['of another program', () => gzipSync('x')],
  ['of another schema or PostgreSQL', other],
  ['packed, and without a head', () => zstdCompressSync('null\nx')],
  ['packed, and empty', () => zstdCompressSync('')],
  ['larger than any database of ours', () => zstdCompressSync(Buffer.alloc(2 ** 26 + 1))],
])('a template that is %s is not taken, and leaves nothing', async (_, make) => {
  const folder = tempDir('bad')
  writeFileSync(join(folder, 'database.zst'), make())
  const directory = join(folder, 'database')
  expect(await unpackTemplate(join(folder, 'database.zst'), directory, signal)).toBe(false)
  expect(readdirSync(folder)).toEqual(['database.zst'])
})

test('no template is no fault, one whose files cannot be written is', async () => {
  const folder = tempDir('none')
  expect(await unpackTemplate(join(folder, 'no'), join(folder, 'database'), signal)).toBe(false)
  writeFileSync(join(folder, 'file'), '')
  const unpacking = unpackTemplate(template, join(folder, 'file/database'), signal)
  await expect(unpacking).rejects.toMatchObject({ code: 'ENOTDIR' })
})
