// Statements on tables whose rows belong to tenants: the condition of a `where`, counting,
// deleting, and one writer at a time.
import { sql } from 'kysely'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { TenantScope } from '#state/ports/tenant-scope.ts'
import type { Db, Tables } from './tables.ts'

type TenantTable =
  | 'users'
  | 'roles'
  | 'audit_entries'
  | 'tsig_keys'
  | 'txt_records'
  | 'written_records'
  | 'alert_channels'
  | 'alert_silences'
  | 'alerts'

export function inScope<T extends TenantTable>(scope: TenantScope) {
  return (from: ExpressionBuilder<Tables, T>): Expression<SqlBool> => {
    if (scope === 'every-tenant') return from.lit(true)
    return (from as unknown as ExpressionBuilder<Tables, TenantTable>).eb(
      'tenant_id',
      '=',
      scope.tenantId,
    )
  }
}

/** Rows of a tenant, and of all. */
export async function countRows(
  db: Db,
  table: TenantTable,
  tenantId: string,
): Promise<{ readonly own: number; readonly all: number }> {
  const { own, all } = await db
    .selectFrom(table)
    .select((from) => [
      from.fn.countAll<number>().as('all'),
      from.fn.countAll<number>().filterWhere('tenant_id', '=', tenantId).as('own'),
    ])
    .executeTakeFirstOrThrow()
  return { own: Number(own), all: Number(all) }
}

/** @returns whether it was in the scope */
export async function deleteRow(
  db: Db,
  table: TenantTable,
  scope: TenantScope,
  id: string,
): Promise<boolean> {
  const query = db.deleteFrom(table).where('id', '=', id).where(inScope<TenantTable>(scope))
  return (await query.executeTakeFirst()).numDeletedRows > 0n
}

/** The second of two at the same time waits for the first, and sees its effect. */
export async function asOnlyWriter<T>(
  db: Db,
  table: TenantTable,
  work: (transaction: Db) => Promise<T>,
): Promise<T> {
  return await db.transaction().execute(async (transaction) => {
    await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(transaction)
    return await work(transaction)
  })
}
