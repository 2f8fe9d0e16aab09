// The audit copy in the table `audit_entries`.
import { sql } from 'kysely'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { assert } from '#lib/assert.ts'
import { fairMost } from '#lib/sequence/fair-share.ts'
import { auditLimits } from '../ports/audit.ts'
import type { AuditCopy, AuditEntry, AuditFilter } from '../ports/audit.ts'
import type { AuditPage, AuditPosition, AuditQuery } from '../ports/audit.ts'
import { inScope } from './database/scope.ts'
import { slices } from './database/limits.ts'
import type { Sql } from './database/sql.ts'
import type { AuditEntriesTable, Db, Tables } from './database/tables.ts'

export function createSqlAudit(database: Sql): AuditCopy {
  return {
    append: (entries) => {
      assert(entries.length <= auditLimits.entriesPerAppendMax, 'an append is bounded')
      return database.repeatable(async (db) => {
        for (const some of slices(entries)) {
          await db
            .insertInto('audit_entries')
            .values(some.map(rowOf))
            .onConflict((conflict) => conflict.column('id').doNothing())
            .execute()
        }
      })
    },
    query: (query) =>
      database.repeatable((db) =>
        db.transaction().execute(async (from) => {
          // Otherwise, without statistics, the planner reads the whole table and sorts it.
          await sql`set local enable_sort = off`.execute(from)
          return pageOf(from, query)
        }),
      ),
    prune: (beforeMs, entriesMax) =>
      database.once(async (db) => {
        const old = await db
          .deleteFrom('audit_entries')
          .where('at_ms', '<', beforeMs)
          .executeTakeFirst()
        return Number(old.numDeletedRows) + (await deleteAbove(db, entriesMax))
      }),
  }
}

async function pageOf(db: Db, query: AuditQuery): Promise<AuditPage> {
  const limit = Math.min(Math.max(query.limit, 1), auditLimits.pageMax)
  if (query.only !== undefined) return found(db, query, query.only, limit)
  const rows = await inRange(db, query)
    .selectAll()
    .limit(limit + 1)
    .execute()
  const entries = rows.slice(0, limit).map(entryOf)
  return { entries, next: rows.length > limit ? nextOf(entries.at(-1)!) : null }
}

/** In one statement, so that entries written meanwhile are neither skipped nor repeated. */
async function found(
  db: Db,
  query: AuditQuery,
  only: AuditFilter,
  limit: number,
): Promise<AuditPage> {
  const { examinedMax } = auditLimits
  const order = sql<number>`row_number() over (order by at_ms desc, id desc)`
  const examined = inRange(db, query).selectAll().select(order.as('number')).limit(examinedMax)
  const rows = await db
    .selectFrom(examined.as('audit_entries'))
    .selectAll()
    .select((from) => sql<boolean>`${isOne(only)(from)}`.as('is_one'))
    .where((from) => from.or([isOne(only)(from), from('number', '=', examinedMax)]))
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const wanted = rows.filter(({ is_one: isWanted }) => isWanted)
  const entries = wanted.slice(0, limit).map(entryOf)
  if (wanted.length > limit) return { entries, next: nextOf(entries.at(-1)!) }
  const last = rows.at(-1)
  const isMore = last !== undefined && Number(last.number) === examinedMax
  return { entries, next: isMore ? nextOf(entryOf(last)) : null }
}

const nextOf = ({ atMs, id }: AuditEntry): AuditPosition => ({ atMs, id })

/** Newest first, as in the indexes of the table, over all tenants and for each. */
function inRange(db: Db, { scope, fromMs, toMs, after }: AuditQuery) {
  const beforeMs = after === undefined ? toMs : Math.min(toMs, after.atMs + 1)
  return db
    .selectFrom('audit_entries')
    .where(inScope<'audit_entries'>(scope))
    .where('at_ms', '>=', fromMs)
    .where('at_ms', '<', beforeMs)
    .$if(after !== undefined, (from) =>
      from.where(sql<boolean>`(at_ms, id) < (${after!.atMs}, ${after!.id})`),
    )
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
}

function isOne({ actor, method, path, isRefused }: AuditFilter) {
  return (from: ExpressionBuilder<Tables, 'audit_entries'>): Expression<SqlBool> =>
    from.and([
      ...(actor === undefined ? [] : [from('actor', '=', actor)]),
      ...(method === undefined ? [] : [from('method', '=', method)]),
      ...(path === undefined ? [] : [sql<boolean>`strpos(lower(path), ${path.toLowerCase()}) > 0`]),
      ...(isRefused === undefined ? [] : [from('status', isRefused ? '>=' : '<', 400)]),
    ])
}

/** Takes from the tenants that have most: calls of one push out none of the others. */
async function deleteAbove(db: Db, entriesMax: number): Promise<number> {
  const tenants = await db
    .selectFrom('audit_entries')
    .select(({ fn }) => ['tenant_id as id', fn.countAll().as('count')])
    .groupBy('tenant_id')
    .execute()
  const most = fairMost(
    tenants.map(({ count }) => Number(count)),
    entriesMax,
  )
  let deleted = 0
  for (const { id, count } of tenants) {
    if (Number(count) <= most) continue
    const surplus = db
      .selectFrom('audit_entries')
      .select('id')
      .where('tenant_id', '=', id)
      .orderBy('at_ms', 'desc')
      .orderBy('id', 'desc')
      .offset(most)
    const done = await db.deleteFrom('audit_entries').where('id', 'in', surplus).executeTakeFirst()
    deleted += Number(done.numDeletedRows)
  }
  return deleted
}

function rowOf(entry: AuditEntry): AuditEntriesTable {
  const { id, atMs, method, path, actor, remote, status, durationMs, tenantId, requestId } = entry
  return {
    ...{ id, method, path, actor, remote, status },
    at_ms: atMs,
    duration_ms: durationMs,
    tenant_id: tenantId,
    request_id: requestId,
    user_id: entry.user?.id ?? '',
    user_email: entry.user?.email ?? '',
    note: entry.note ?? '',
  }
}

function entryOf(row: AuditEntriesTable): AuditEntry {
  const { id, method, path, actor, remote, status } = row
  return {
    ...{ id, method, path, actor, remote, status },
    atMs: row.at_ms,
    durationMs: row.duration_ms,
    tenantId: row.tenant_id,
    requestId: row.request_id,
    ...(row.user_id === '' ? {} : { user: { id: row.user_id, email: row.user_email } }),
    ...(row.note === '' ? {} : { note: row.note }),
  }
}
