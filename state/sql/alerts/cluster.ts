// Keeps each node's findings, and which node opens and sends alerts, in the tables `alert_reports`
// and `alert_lease`. Clocks of nodes are never compared: a watching node counts beats.
import { sql } from 'kysely'
import type { AlertLease, AlertStore, Finding } from '#state/ports/alerts.ts'
import type { StoreCall } from '#state/ports/store-result.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Db } from '#state/sql/database/tables.ts'
import { replaceRow } from '#state/sql/replace-row.ts'

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
        const lease = db.selectFrom('alert_lease').select(['holder', 'term', 'beat'])
        return (await lease.executeTakeFirst()) ?? null
      }),
    takeLease: (seen, holder) => {
      const as = seen && { term: seen.term, beat: seen.beat }
      return replaced(database, as, { holder, term: (seen?.term ?? 0) + 1, beat: 0 })
    },
    renewLease: (own) => {
      const as = { term: own.term, holder: own.holder }
      return replaced(database, as, { ...own, beat: own.beat + 1 })
    },
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

/** @returns null: another node was faster */
const replaced = (
  database: Sql,
  seen: Partial<AlertLease> | null,
  lease: AlertLease,
): StoreCall<AlertLease | null> =>
  database.once(async (db) =>
    (await replaceRow(db, 'alert_lease', seen, { id: 1, ...lease })) ? lease : null,
  )

/** @returns whether the term is current; it stays so until the end of the transaction */
export async function holdTerm(transaction: Db, term: number): Promise<boolean> {
  const row = await transaction
    .selectFrom('alert_lease')
    .select(['term', 'holder'])
    .forUpdate()
    .executeTakeFirst()
  return row?.term === term && row.holder !== ''
}
