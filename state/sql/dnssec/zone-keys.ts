// Keys of signed zones in the tables `zone_keys`, one row for each zone, and `zone_key_revision`.
// Writers lock the row of the revision first, so they follow each other.
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { assert } from '#lib/assert.ts'
import { zoneKeyLimits } from '#state/ports/zone-keys.ts'
import type { StoredZoneKey, ZoneKeySet, ZoneKeyStore } from '#state/ports/zone-keys.ts'
import { withFaults } from '#state/ports/store-result.ts'
import type { Sql } from '../database/sql.ts'
import type { Db, ZoneKeysTable } from '../database/tables.ts'

/** Channel of notices that keys have changed; a notice has no content. */
export const zoneKeysChannel = 'gslbd_zone_keys'

export function createSqlZoneKeys(database: Sql): ZoneKeyStore {
  return {
    revision: () => database.repeatable(revisionOf),
    load: () =>
      database.repeatable((db) =>
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute(async (transaction) => {
            const revision = await revisionOf(transaction)
            const rows = transaction.selectFrom('zone_keys').selectAll().orderBy('zone')
            return { revision, zones: (await rows.execute()).map(setOf) }
          }),
      ),
    swap: (zone, version, keys, nowMs) => {
      const text = JSON.stringify(keys)
      const { keysPerZoneMax, textMax, zonesMax } = zoneKeyLimits
      const tooMany = `A zone has at most ${keysPerZoneMax} keys, and ${zonesMax} zones have some.`
      const isTooLarge = keys.length > keysPerZoneMax || text.length > textMax
      const swapped = database.once(async (db) => {
        if (isTooLarge) return 'too-many-keys'
        return await db
          .transaction()
          .execute((transaction) => swap(transaction, zone, version, text, nowMs))
      })
      return withFaults(swapped, {
        'too-many-keys': tooMany,
        'changed-meanwhile': 'Another change of the keys of this zone came first.',
      })
    },
  }
}

type SwapFault = 'changed-meanwhile' | 'too-many-keys'

async function swap(
  db: Db,
  zone: string,
  version: number,
  keys: string,
  nowMs: number,
): Promise<number | SwapFault> {
  const revision = await lockedRevision(db)
  const own = db.selectFrom('zone_keys').select('version').where('zone', '=', zone)
  const before = (await own.executeTakeFirst())?.version ?? 0
  if (before !== version) return 'changed-meanwhile'
  if (before === 0 && (await zoneCount(db)) >= zoneKeyLimits.zonesMax) return 'too-many-keys'
  // At least the clock: see `beginRestoredRevision`.
  const next = Math.max(revision, version, Math.floor(nowMs)) + 1
  assert(Number.isSafeInteger(next), 'a revision is a number that can be counted on')
  if (keys === '[]') await db.deleteFrom('zone_keys').where('zone', '=', zone).execute()
  else {
    const row = { version: next, keys, updated_at_ms: nowMs }
    await db
      .insertInto('zone_keys')
      .values({ zone, ...row })
      .onConflict((conflict) => conflict.column('zone').doUpdateSet(row))
      .execute()
  }
  await db.updateTable('zone_key_revision').set({ revision: next }).execute()
  await sql`select pg_notify(${zoneKeysChannel}, '')`.execute(db)
  return next
}

/** Locks the row against other writers until the end of the transaction. */
async function lockedRevision(db: Db): Promise<number> {
  await db
    .insertInto('zone_key_revision')
    .values({ id: 1, revision: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = db.selectFrom('zone_key_revision').select('revision').forUpdate()
  return (await row.executeTakeFirstOrThrow()).revision
}

async function zoneCount(db: Db): Promise<number> {
  const counted = db.selectFrom('zone_keys').select((from) => from.fn.countAll<number>().as('all'))
  return Number((await counted.executeTakeFirstOrThrow()).all)
}

async function revisionOf(db: Db): Promise<number> {
  const row = db.selectFrom('zone_key_revision').select('revision')
  return (await row.executeTakeFirst())?.revision ?? 0
}

/**
 * Runs in the transaction that restores keys. Nodes may have seen later revisions and ignore
 * anything below: revisions follow the clock, so the current time exceeds all of them.
 */
export async function beginRestoredRevision(db: Db): Promise<void> {
  await sql`insert into zone_key_revision (id, revision)
    select 1, 1 + greatest(
      max(version), floor(extract(epoch from clock_timestamp()) * 1000)::bigint
    )
    from zone_keys having count(*) > 0`.execute(db)
}

function setOf({ zone, version, keys }: Selectable<ZoneKeysTable>): ZoneKeySet {
  return { zone, version, keys: JSON.parse(keys) as StoredZoneKey[] }
}
