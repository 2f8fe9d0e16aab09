// Why the embedded database cannot be opened, and what to do: by what the system said.
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { pgliteDriver } from '#state/sql/database/pglite.ts'
import { openSql } from '#state/sql/database/sql.ts'
import { tempDir } from '#test/support/temp-dir.ts'

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
  await expect(pgliteDriver(directory)()).rejects.toMatchObject({ code: 'ENOSPC' })
  // The disk has room again.
  await expect(pgliteDriver(directory)()).rejects.not.toHaveProperty('code', 'ENOSPC')
})
