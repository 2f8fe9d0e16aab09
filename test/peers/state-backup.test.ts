// A backup of one kind of database, restored into the other kind.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentState } from '#state/persistent.ts'
import { copyThrough, everything, fill } from '#test/support/filled-state.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import { emptyTables } from '#test/support/sql-tables.ts'
import { tempDir } from '#test/support/temp-dir.ts'

async function open(url: string): Promise<PersistentState> {
  const options = { url, dataDir: tempDir('state'), clock: systemClock }
  const opened = await createPersistent(options)
  if (!opened.ok) throw new Error(opened.error)
  onTestFinished(opened.value.close)
  return opened.value
}

test('from the embedded database to PostgreSQL and back, nothing changes', async () => {
  const server = await startPostgres()
  onTestFinished(server.stop)
  const [embedded, postgres] = [await open(''), await open(server.url)]
  const path = join(tempDir('backup'), 'x.db')
  await fill(embedded)
  const before = await everything(embedded)
  await copyThrough(path, embedded, postgres)
  expect(await everything(postgres)).toEqual(before)
  await emptyTables(embedded.sql)
  await copyThrough(path, postgres, embedded)
  expect(await everything(embedded)).toEqual(before)
})
