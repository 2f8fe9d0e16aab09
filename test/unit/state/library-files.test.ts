// The embedded database reads its own files from the disk once it is open, and frees their memory.
import { afterAll, expect, test } from 'vitest'
import { PGlite } from '@electric-sql/pglite'
import { databaseMachine } from '#state/sql/database/database-machine.ts'
import { LibraryFiles } from '#state/sql/database/library-files.ts'
import type { LibraryFileSystem } from '#state/sql/database/library-files.ts'

interface Files extends LibraryFileSystem {
  readonly readFile: (path: string) => Uint8Array
  readonly writeFile: (path: string, octets: Uint8Array) => void
  readonly open: (path: string, flags: string) => object
  readonly write: (
    stream: object,
    octets: Uint8Array,
    at: number,
    count: number,
    to: number,
  ) => void
}
const library = new LibraryFiles()
const before = library.heldBytes
const database = await PGlite.create({
  fsBundle: library.blob,
  pgliteWasmModule: databaseMachine(),
})
const files = database.Module.FS as Files
library.letGo(files)
afterAll(() => database.close())

test('the files leave nothing in memory', () => {
  expect(before).toBeGreaterThan(1_000_000)
  expect(library.heldBytes).toBe(0)
})

test.each([
  [
    'a time zone',
    `(timestamptz '2026-07-01 12:00+00' AT TIME ZONE 'Asia/Tokyo')::text`,
    '2026-07-01 21:00:00',
  ],
  ['a dictionary', `to_tsvector('english', 'the zones')::text`, "'zone':2"],
  ['a collation', `('a' < 'B' COLLATE "unicode")::text`, 'true'],
])('%s is found after that', async (_, expression, expected) => {
  const { rows } = await database.query(`SELECT ${expression} AS said`)
  expect(rows).toEqual([{ said: expected }])
})

test('a file that is written is one in memory, and is what was written', () => {
  const path = '/pglite/share/postgresql/timezonesets/Default'
  const was = files.readFile(path)
  files.writeFile(path, Buffer.from('UTC 0\n'))
  expect(Buffer.from(files.readFile(path)).toString()).toBe('UTC 0\n')
  files.writeFile(path, was)
  expect(files.readFile(path)).toEqual(was)
})

test('octets that are written in the middle of a file stay', () => {
  const path = '/pglite/share/postgresql/timezonesets/Australia.txt'
  const expected = Buffer.from(files.readFile(path))
  expected.write('changed', 8)
  files.write(files.open(path, 'r+'), Buffer.from('changed'), 0, 7, 8)
  expect(Buffer.from(files.readFile(path))).toEqual(expected)
})
