// An empty embedded database with its schema, made once on a machine and copied for each test:
// making one costs seconds. The tests of a first start let the node make its own.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import { createPersistent } from '#state/persistent.ts'
import { migrations } from '#state/sql/database/migrations.ts'
import { removeTempDir } from './temp-dir.ts'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/gslbd-test')

/** Another schema, another PostgreSQL or other parameters make another template. */
function templatePath(): string {
  const parts = [
    JSON.stringify(migrations),
    readFileSync(join(root, 'state/sql/database/open-pglite.ts'), 'utf8'),
    readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
  ]
  const digest = createHash('sha256').update(parts.join('\n')).digest('hex')
  return join(cache, `database-${digest.slice(0, 16)}`)
}

/** Puts a database that nobody has opened into the data directory. */
export async function placeDatabase(dataDir: string): Promise<void> {
  const path = templatePath()
  if (!existsSync(path)) await makeTemplate(path)
  cpSync(path, join(dataDir, 'database'), { recursive: true })
}

/** Of two processes that make it at the same time, the first one's stays. */
async function makeTemplate(path: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const dataDir = mkdtempSync(join(cache, 'making-'))
  try {
    const opened = await createPersistent({ url: '', dataDir, node: 'n1', clock: systemClock })
    if (!opened.ok) throw new Error(opened.error)
    const { state, fault } = opened.value.status()
    await opened.value.close()
    if (state !== 'up') throw new Error(`the template of databases is ${state}: ${fault ?? ''}`)
    renameSync(join(dataDir, 'database'), path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    removeTempDir(dataDir)
  }
}
