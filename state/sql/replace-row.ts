// Replaces a row by compare-and-swap: of several nodes that have seen the same row, one changes it.
import { sql } from 'kysely'
import type { Db, Tables } from './database/tables.ts'

/**
 * An update never inserts: where a restored database lacks the row, a node that has seen one has to
 * read again.
 *
 * @param seen the columns that must still be as they were; null: there was no row
 * @returns false: another node was first
 */
export async function replaceRow<T extends keyof Tables>(
  db: Db,
  table: T,
  seen: Partial<Tables[T]> | null,
  row: Tables[T],
): Promise<boolean> {
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)))
  const values = sql.join(Object.values(row))
  const change =
    seen === null
      ? sql`insert into ${sql.table(table)} (${columns}) values (${values}) on conflict do nothing`
      : sql`update ${sql.table(table)} set ${sql.join(equal(row))}
          where ${sql.join(equal(seen), sql` and `)}`
  const { numAffectedRows = 0n } = await change.execute(db)
  return numAffectedRows > 0n
}

const equal = (columns: object) =>
  Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
