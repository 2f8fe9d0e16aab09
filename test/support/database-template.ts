// An empty embedded database with its schema, made once on a machine and unpacked for each test:
// making one costs seconds.
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { writeDatabaseTemplate } from '#bin/database-template.ts'
import { templateDigest, unpackTemplate } from '#state/sql/database/database-template.ts'
import { removeTempDir } from './temp-dir.ts'

const cache = join(import.meta.dirname, '../../node_modules/.cache/gslbd-test')

/** Puts an unopened database into the data directory. */
export async function placeDatabase(dataDir: string): Promise<void> {
  const { signal } = new AbortController()
  const path = await databaseTemplate()
  if (!(await unpackTemplate(path, join(dataDir, 'database'), signal))) {
    throw new Error(`${path} is damaged: remove it`)
  }
}

/** @returns the path of the packed file */
export async function databaseTemplate(): Promise<string> {
  const path = join(cache, `database-${templateDigest().slice(0, 16)}.zst`)
  if (!existsSync(path)) await makeTemplate(path)
  return path
}

/** Among simultaneous makers the last one wins: the files are equal. */
async function makeTemplate(path: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'making-'))
  try {
    await writeDatabaseTemplate(join(folder, 'database.zst'))
    renameSync(join(folder, 'database.zst'), path)
  } finally {
    removeTempDir(folder)
  }
}
