// The audit copy in the table `audit_entries`.
import { assert } from '#lib/assert.ts'
import { auditLimits } from '../ports/audit.ts'
import type { AuditCopy, AuditEntry } from '../ports/audit.ts'
import { sqlLimits } from './database/limits.ts'
import { inScope } from './database/scope.ts'
import type { Sql } from './database/sql.ts'
import type { AuditEntriesTable, Db } from './database/tables.ts'

export function createSqlAudit(database: Sql): AuditCopy {
  return {
    append: (entries) => {
      assert(entries.length <= auditLimits.entriesPerAppendMax, 'an append is bounded')
      return database.repeatable(async (db) => {
        for (let i = 0; i < entries.length; i += sqlLimits.rowsPerStatement) {
          await db
            .insertInto('audit_entries')
            .values(entries.slice(i, i + sqlLimits.rowsPerStatement).map(rowOf))
            .onConflict((conflict) => conflict.column('id').doNothing())
            .execute()
        }
      })
    },
    query: ({ scope, fromMs, toMs, limit, after }) =>
      database.repeatable(async (db) => {
        const rows = await db
          .selectFrom('audit_entries')
          .selectAll()
          .where(inScope<'audit_entries'>(scope))
          .where('at_ms', '>=', fromMs)
          .where('at_ms', '<', toMs)
          .$if(after !== undefined, (query) =>
            query.where((from) =>
              from.or([
                from('at_ms', '<', after!.atMs),
                from.and([from('at_ms', '=', after!.atMs), from('id', '<', after!.id)]),
              ]),
            ),
          )
          .orderBy('at_ms', 'desc')
          .orderBy('id', 'desc')
          .limit(Math.min(Math.max(limit, 1), auditLimits.pageMax))
          .execute()
        return rows.map(entryOf)
      }),
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

async function deleteAbove(db: Db, entriesMax: number): Promise<number> {
  const surplus = db
    .selectFrom('audit_entries')
    .select('id')
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .offset(entriesMax)
  const { numDeletedRows } = await db
    .deleteFrom('audit_entries')
    .where('id', 'in', surplus)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

function rowOf(entry: AuditEntry): AuditEntriesTable {
  const { id, atMs, method, path, actor, remote, status, durationMs, tenantId, requestId } = entry
  return {
    ...{ id, method, path, actor, remote, status },
    at_ms: atMs,
    duration_ms: durationMs,
    tenant_id: tenantId,
    request_id: requestId,
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
  }
}
