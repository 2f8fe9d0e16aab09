// TSIG keys and records written at run time in the tables `tsig_keys`, `txt_records`,
// `written_records` and `dynamic_dns`. Writers lock the row of revisions first, so they follow each
// other.
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { uuidV7 } from '#lib/uuid.ts'
import { dynamicDnsLimits, writtenTypes } from '../ports/dynamic-dns.ts'
import type {
  DynamicDnsStore,
  DynamicRevisions,
  StoredTsigKey,
  StoredRecord,
  RecordChange,
  RecordDelta,
  RecordFault,
  RecordWriter,
  SeenRecords,
} from '../ports/dynamic-dns.ts'
import { withFaults } from '../ports/store-result.ts'
import type { TenantScope } from '../ports/tenant-scope.ts'
import { slices } from './database/limits.ts'
import { countRows, deleteRow, inScope } from './database/scope.ts'
import type { Sql } from './database/sql.ts'
import type { Db, TsigKeysTable, TxtRecordsTable, WrittenRecordsTable } from './database/tables.ts'
import { changedRecords } from './record-changes.ts'

/** Channel of notices that data has changed; a notice has no content. */
export const dynamicDnsChannel = 'gslbd_dynamic_dns'

export function createSqlDynamicDns(database: Sql): DynamicDnsStore {
  return {
    ...keyCalls(database),
    ...recordCalls(database),
    revisions: () => database.repeatable(revisionsOf),
    load: () =>
      database.repeatable((db) =>
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute(async (transaction) => ({
            revisions: await revisionsOf(transaction),
            keys: (await keysOf(transaction).execute()).map(keyOf),
            records: await allRecords(transaction, 'every-tenant'),
          })),
      ),
  }
}

function keyCalls(database: Sql): Pick<DynamicDnsStore, 'createKey' | 'listKeys' | 'deleteKey'> {
  return {
    createKey: (key) => {
      const { keysPerTenantMax, keysMax } = dynamicDnsLimits
      const created = database.once((db) =>
        writing(db, async (transaction, { keys }) => {
          const named = transaction
            .selectFrom('tsig_keys')
            .select('id')
            .where('name', '=', key.name)
          if ((await named.executeTakeFirst()) !== undefined) return 'name-taken'
          const { own, all } = await countRows(transaction, 'tsig_keys', key.tenantId)
          if (own >= keysPerTenantMax || all >= keysMax) return 'too-many-keys'
          await transaction.insertInto('tsig_keys').values(keyRow(key)).execute()
          return await raise(transaction, 'keys_revision', keys)
        }),
      )
      return withFaults(created, {
        'name-taken': 'Another key has this name.',
        'too-many-keys': `A tenant has at most ${keysPerTenantMax} keys, and all have ${keysMax}.`,
      })
    },
    listKeys: (scope) =>
      database.repeatable(async (db) => {
        const rows = await keysOf(db).where(inScope<'tsig_keys'>(scope)).execute()
        return rows.map(keyOf)
      }),
    deleteKey: (scope, id) =>
      database.once((db) =>
        writing(db, async (transaction, { keys }) =>
          (await deleteRow(transaction, 'tsig_keys', scope, id))
            ? await raise(transaction, 'keys_revision', keys)
            : null,
        ),
      ),
  }
}

type RecordCall = 'createRecord' | 'listRecords' | 'deleteRecord' | 'applyChanges'

function recordCalls(database: Sql): Pick<DynamicDnsStore, RecordCall> {
  return {
    createRecord: (record) => {
      const changes = [{ ...record, verb: 'add' }] as const
      const done = database.once((db) =>
        writing(db, async (transaction, { records }) => {
          const before = await named(transaction, [record.name])
          if (before.some(({ type }) => type === writtenTypes.CNAME)) return 'is-alias'
          const delta = await change(transaction, records, changes, record)
          if (typeof delta === 'string' || delta.added.length > 0) return delta
          return 'record-exists'
        }),
      )
      return withFaults(done, {
        ...tooMuch,
        'is-alias': 'The name is an alias (CNAME).',
        'record-exists': 'This name has this value already.',
      })
    },
    listRecords: (scope) =>
      // One snapshot of both tables: an update is there as a whole, or not at all.
      database.repeatable((db) =>
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute((transaction) => allRecords(transaction, scope)),
      ),
    deleteRecord: (scope, id) =>
      database.once((db) =>
        writing(db, async (transaction, { records }) => {
          const isGone =
            (await deleteRow(transaction, 'txt_records', scope, id)) ||
            (await deleteRow(transaction, 'written_records', scope, id))
          if (!isGone) return null
          const revision = await raise(transaction, 'records_revision', records)
          return { revision, added: [], removed: [id] }
        }),
      ),
    applyChanges: (writer, changes, nowMs, seen) => {
      const done = database.once((db) =>
        writing(db, async (transaction, { records }) => {
          if (changes.length > dynamicDnsLimits.changesMax) return 'too-many-changes'
          const by = typeof writer === 'string' ? await writerOf(transaction, writer) : writer
          if (by === undefined) return 'key-gone'
          if (seen !== undefined && !(await isAsSeen(transaction, seen))) return 'changed-meanwhile'
          return await change(transaction, records, changes, { ...by, createdAtMs: nowMs })
        }),
      )
      return withFaults(done, {
        ...tooMuch,
        'key-gone': 'The key was deleted.',
        'changed-meanwhile': 'Its names were changed meanwhile.',
      })
    },
  }
}

async function writerOf(db: Db, keyId: string): Promise<Exclude<RecordWriter, string> | undefined> {
  const keys = db.selectFrom('tsig_keys').select(['tenant_id', 'name']).where('id', '=', keyId)
  const key = await keys.executeTakeFirst()
  return key && { tenantId: key.tenant_id, writtenBy: `key:${key.name}` }
}

/** Locks out other writers of keys or records until the end of `work`. */
async function writing<T>(
  db: Db,
  work: (transaction: Db, revisions: DynamicRevisions) => Promise<T>,
): Promise<T> {
  return await db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('dynamic_dns')
      .values({ id: 1, keys_revision: 0, records_revision: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const row = transaction.selectFrom('dynamic_dns').selectAll().forUpdate()
    const { keys_revision: keys, records_revision: records } = await row.executeTakeFirstOrThrow()
    return await work(transaction, { keys, records })
  })
}

/** Listening nodes get the notice when the transaction is durable. */
async function raise(
  db: Db,
  column: 'keys_revision' | 'records_revision',
  revision: number,
): Promise<number> {
  const next = revision + 1
  await db
    .updateTable('dynamic_dns')
    .set({ [column]: next })
    .execute()
  await sql`select pg_notify(${dynamicDnsChannel}, '')`.execute(db)
  return next
}

/** @param written of records that are added; an id is that of the first */
async function change(
  db: Db,
  revision: number,
  changes: readonly RecordChange[],
  written: Pick<StoredRecord, 'tenantId' | 'createdAtMs' | 'writtenBy'> & { id?: string },
): Promise<RecordDelta | RecordFault> {
  const { tenantId, createdAtMs, writtenBy, id } = written
  const names = [...new Set(changes.map(({ name }) => name))]
  const stored = names.length === 0 ? [] : await named(db, names)
  const outcome = changedRecords(stored, changes, tenantId)
  if (outcome === 'too-many-records') return outcome
  const removed = outcome.removed.map((record) => record.id)
  const added = outcome.added.map((record, i) => ({
    ...record,
    id: i === 0 && id !== undefined ? id : uuidV7(createdAtMs),
    ...{ tenantId, createdAtMs, writtenBy },
  }))
  if (removed.length === 0 && added.length === 0) return { revision, added, removed }
  if (added.length > 0 && !(await hasRoom(db, tenantId, added.length - removed.length))) {
    return 'too-many-records'
  }
  for (const some of slices(removed)) {
    await db.deleteFrom('txt_records').where('id', 'in', some).execute()
    await db.deleteFrom('written_records').where('id', 'in', some).execute()
  }
  const texts = added.filter(isText).map(textRow)
  const others = added.filter((record) => !isText(record)).map(otherRow)
  if (texts.length > 0) await db.insertInto('txt_records').values(texts).execute()
  if (others.length > 0) await db.insertInto('written_records').values(others).execute()
  return { revision: await raise(db, 'records_revision', revision), added, removed }
}

async function named(db: Db, names: readonly string[]): Promise<readonly StoredRecord[]> {
  const texts = await textsOf(db).where('name', 'in', names).execute()
  const others = await othersOf(db).where('name', 'in', names).execute()
  return [...texts, ...others].map(recordOf)
}

/** Records keep their ids for as long as they stay as they are. */
async function isAsSeen(db: Db, { names, ids }: SeenRecords): Promise<boolean> {
  const left = new Set(ids)
  for (const some of slices(names)) {
    for (const { id } of await named(db, some)) if (!left.delete(id)) return false
  }
  return left.size === 0
}

/** Oldest first. */
async function allRecords(db: Db, scope: TenantScope): Promise<readonly StoredRecord[]> {
  const texts = await textsOf(db).where(inScope<'txt_records'>(scope)).execute()
  const others = await othersOf(db).where(inScope<'written_records'>(scope)).execute()
  const all = [...texts, ...others].map(recordOf)
  return others.length === 0 ? all : all.sort(byAge)
}

const byAge = (a: StoredRecord, b: StoredRecord): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1)

async function hasRoom(db: Db, tenantId: string, more: number): Promise<boolean> {
  let [all, own] = [more, more]
  for (const table of ['txt_records', 'written_records'] as const) {
    const counts = await countRows(db, table, tenantId)
    all += counts.all
    own += counts.own
  }
  const { recordsPerTenantMax, recordsMax } = dynamicDnsLimits
  return own <= recordsPerTenantMax && all <= recordsMax
}

async function revisionsOf(db: Db): Promise<DynamicRevisions> {
  const row = await db.selectFrom('dynamic_dns').selectAll().executeTakeFirst()
  return { keys: row?.keys_revision ?? 0, records: row?.records_revision ?? 0 }
}

const keysOf = (db: Db) =>
  db.selectFrom('tsig_keys').selectAll().orderBy('created_at_ms').orderBy('id')

const textsOf = (db: Db) =>
  db.selectFrom('txt_records').selectAll().orderBy('created_at_ms').orderBy('id')

const othersOf = (db: Db) =>
  db.selectFrom('written_records').selectAll().orderBy('created_at_ms').orderBy('id')

const { changesMax, ...most } = dynamicDnsLimits
const tooMuch: Readonly<Record<RecordFault, string>> = {
  'too-many-changes': `One update makes at most ${changesMax} changes.`,
  'too-many-records':
    `A tenant has at most ${most.recordsPerTenantMax} records, all have ${most.recordsMax}, and ` +
    `one name has ${most.recordsPerNameMax} of ${most.rdataBytesPerNameMax} octets together.`,
}

function keyRow(key: StoredTsigKey): Selectable<TsigKeysTable> {
  return {
    id: key.id,
    tenant_id: key.tenantId,
    name: key.name,
    algorithm: key.algorithm,
    scope: key.scope,
    secret_ciphertext: key.secretCiphertext,
    created_at_ms: key.createdAtMs,
  }
}

function keyOf(row: Selectable<TsigKeysTable>): StoredTsigKey {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    algorithm: row.algorithm,
    scope: row.scope,
    secretCiphertext: row.secret_ciphertext,
    createdAtMs: row.created_at_ms,
  }
}

const isText = ({ type }: StoredRecord): boolean => type === writtenTypes.TXT

const otherRow = (record: StoredRecord): Selectable<WrittenRecordsTable> => ({
  ...textRow(record),
  type: record.type,
})

function textRow(record: StoredRecord): Selectable<TxtRecordsTable> {
  return {
    id: record.id,
    tenant_id: record.tenantId,
    name: record.name,
    rdata: record.rdata,
    ttl_seconds: record.ttlSeconds,
    created_at_ms: record.createdAtMs,
    written_by: record.writtenBy,
  }
}

function recordOf(
  row: Selectable<TxtRecordsTable> & Partial<Selectable<WrittenRecordsTable>>,
): StoredRecord {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    type: row.type ?? writtenTypes.TXT,
    rdata: row.rdata,
    ttlSeconds: row.ttl_seconds,
    createdAtMs: row.created_at_ms,
    writtenBy: row.written_by,
  }
}
