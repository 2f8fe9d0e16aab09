// Why the embedded database cannot be opened, and what to do: by what the system said.
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { pgliteDriver } from '#state/sql/database/pglite.ts'
import { openSql } from '#state/sql/database/sql.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { signal } = new AbortController()

const codes = [
  ['EROFS', '(EROFS). The file system is read-only: make it writable.'],
  ['ENOSPC', '(ENOSPC). The disk is full: make room. That is no reason to restore a backup.'],
  ['EDQUOT', '(EDQUOT). The disk is full: make room. That is no reason to restore a backup.'],
  ['EACCES', '(EACCES). This user may not write there: give the directory back to the user'],
  ['EPERM', '(EPERM). This user may not write there: give the directory back to the user'],
  ['', '(it does not start). If it is damaged, move it away and restore a backup.'],
] as const

test.each(codes)('an embedded database that fails with "%s" says %s', async (code, says) => {
  const driver = () => Promise.reject(Object.assign(new Error('ended'), { code }))
  const opened = await openSql('embedded', driver, systemClock)
  if (!opened.ok) throw new Error(opened.error)
  const { fault } = opened.value.status()
  await opened.value.close()
  expect(fault).toContain(`The database in the data directory cannot be opened ${says}`)
})

test('a database whose disk takes nothing fails with the word of the system', async () => {
  const directory = tempDir('full')
  // Not a database, on a disk that is full: the second explains more.
  writeFileSync(join(directory, 'PG_VERSION'), '17')
  symlinkSync('/dev/full', join(directory, `.probe-${process.pid}`))
  await expect(pgliteDriver(directory)(signal)).rejects.toMatchObject({ code: 'ENOSPC' })
  // The disk has room again.
  await expect(pgliteDriver(directory)(signal)).rejects.not.toHaveProperty('code', 'ENOSPC')
})

test('a database whose making is called off leaves nothing, and is no fault', async () => {
  const dataDir = tempDir('called-off')
  const told: string[] = []
  const ending = new AbortController()
  // Without a template.
  const driver = pgliteDriver(join(dataDir, 'database'), [])
  const onStatus = ({ state }: { readonly state: string }) => told.push(state)
  const opening = openSql('embedded', driver, systemClock, onStatus, ending.signal)
  // Making one takes seconds; the loop of this thread goes on meanwhile.
  await waitUntil('the making', () => existsSync(join(dataDir, 'database.new')))
  ending.abort()
  const opened = await opening
  if (!opened.ok) throw new Error(opened.error)
  const { repeatable } = opened.value
  expect(await repeatable((db) => db.selectFrom('users').selectAll().execute())).toMatchObject({
    error: { code: 'store-away', message: 'The database was closed.' },
  })
  expect(readdirSync(dataDir)).toEqual([])
  expect(told).toEqual([])
})
