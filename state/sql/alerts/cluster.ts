// Keeps each node's findings, and which node opens and sends alerts, in the tables `alert_reports`
// and `alert_lease`. Clocks of nodes are never compared: a watching node counts beats.
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { AlertLease, AlertStore, Finding } from '#state/ports/alerts.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { AlertLeaseTable, Db } from '#state/sql/database/tables.ts'

type ReportCall = 'report' | 'reports' | 'retire'

export function reportCalls(database: Sql): Pick<AlertStore, ReportCall> {
  return {
    report: (node, commit, findings) =>
      database.repeatable(async (db) => {
        const given = findings === null ? {} : { findings: JSON.stringify(findings) }
        await db
          .insertInto('alert_reports')
          .values({ node, beat: 1, commit_id: commit, findings: '[]', ...given })
          .onConflict((conflict) =>
            conflict.column('node').doUpdateSet({
              beat: sql<number>`alert_reports.beat + 1`,
              commit_id: commit,
              ...given,
            }),
          )
          .execute()
      }),
    reports: () =>
      database.repeatable(async (db) => {
        const rows = await db.selectFrom('alert_reports').selectAll().orderBy('node').execute()
        return rows.map(({ node, beat, commit_id: commit, findings }) => ({
          ...{ node, beat, commit },
          findings: JSON.parse(findings) as Finding[],
        }))
      }),
    retire: (node) =>
      database.repeatable(async (db) => {
        await db.deleteFrom('alert_reports').where('node', '=', node).execute()
      }),
  }
}

type LeaseCall = 'lease' | 'takeLease' | 'renewLease' | 'releaseLease'

export function leaseCalls(database: Sql): Pick<AlertStore, LeaseCall> {
  return {
    lease: () =>
      database.repeatable(async (db) => {
        const row = await db.selectFrom('alert_lease').selectAll().executeTakeFirst()
        return row === undefined ? null : leaseOf(row)
      }),
    // Only one of two nodes that have seen the same lease changes a row.
    takeLease: (seen, holder) =>
      database.once(async (db) => {
        const row = await (seen === null
          ? db
              .insertInto('alert_lease')
              .values({ id: 1, holder, term: 1, beat: 0 })
              .onConflict((conflict) => conflict.column('id').doNothing())
              .returningAll()
              .executeTakeFirst()
          : db
              .updateTable('alert_lease')
              .set({ holder, term: seen.term + 1, beat: 0 })
              .where('term', '=', seen.term)
              .where('beat', '=', seen.beat)
              .returningAll()
              .executeTakeFirst())
        return row === undefined ? null : leaseOf(row)
      }),
    renewLease: (own) =>
      database.once(async (db) => {
        const row = await db
          .updateTable('alert_lease')
          .set({ beat: own.beat + 1 })
          .where('term', '=', own.term)
          .where('holder', '=', own.holder)
          .returningAll()
          .executeTakeFirst()
        return row === undefined ? null : leaseOf(row)
      }),
    releaseLease: (own) =>
      database.repeatable(async (db) => {
        await db
          .updateTable('alert_lease')
          .set({ holder: '' })
          .where('term', '=', own.term)
          .where('holder', '=', own.holder)
          .execute()
      }),
  }
}

/** @returns whether the term is current; it stays so until the end of the transaction */
export async function holdTerm(transaction: Db, term: number): Promise<boolean> {
  const row = await transaction
    .selectFrom('alert_lease')
    .select(['term', 'holder'])
    .forUpdate()
    .executeTakeFirst()
  return row?.term === term && row.holder !== ''
}

function leaseOf({ holder, term, beat }: Selectable<AlertLeaseTable>): AlertLease {
  return { holder, term, beat }
}
