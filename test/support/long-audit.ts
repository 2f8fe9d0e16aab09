// Fills the database with a long audit log: any number of calls, three in each millisecond.
import { sql } from 'kysely'
import type { Sql } from '#state/sql/database/sql.ts'
import { valueOf } from './store-values.ts'

export const longPast = {
  idOf: (number: number): string => String(number).padStart(12, '0'),
  atMs: (number: number): number => Math.floor(number / 3),
} as const

const rowsPerStatement = 100_000

/** Numbers 0 to `count` - 1, of the tenant `default`; every seventh is of the actor `rare`. */
export async function fillAudit(database: Sql, count: number): Promise<void> {
  for (let from = 0; from < count; from += rowsPerStatement) {
    const to = Math.min(count, from + rowsPerStatement) - 1
    const filled = await database.repeatable((db) =>
      sql`insert into audit_entries
        select lpad(n::text, 12, '0'), n / 3, 'PUT', '/api/v1/pools/' || n,
          case n when 7 then 'rare' else 'abcd' end,
          '192.0.2.1', 200, 3, 'default', null
        from generate_series(${from}::bigint, ${to}::bigint) as n
        on conflict do nothing`.execute(db),
    )
    await valueOf(Promise.resolve(filled))
  }
}
