// The certificate of an ACME server in the table `acme_state`, which has one row.
import { sql } from 'kysely'
import { assert } from '#lib/assert.ts'
import { err } from '#lib/result.ts'
import { certificateLimits } from '#state/ports/certificates.ts'
import type { CertificateStore } from '#state/ports/certificates.ts'
import type { Sql } from '../database/sql.ts'
import type { Db } from '../database/tables.ts'

/** Nodes listen on it; what a notice says is that there is something to look at. */
export const certificatesChannel = 'gslbd_certificates'

export function createSqlCertificates(database: Sql): CertificateStore {
  return {
    load: () =>
      database.repeatable(async (db) => {
        const row = db.selectFrom('acme_state').select(['version', 'sealed'])
        return (await row.executeTakeFirst()) ?? null
      }),
    swap: async (version, sealed, nowMs) => {
      assert(sealed.length <= certificateLimits.sealedMax, 'what is sealed was bounded before')
      const done = await database.once((db) =>
        db.transaction().execute((transaction) => swap(transaction, version, sealed, nowMs)),
      )
      if (!done.ok || done.value !== null)
        return done as Awaited<ReturnType<CertificateStore['swap']>>
      return err({ code: 'changed-meanwhile', message: changedMeanwhile })
    },
  }
}

const changedMeanwhile = 'Another node changed the certificate first.'

/** @returns null: somebody else was first */
async function swap(
  db: Db,
  version: number,
  sealed: string,
  nowMs: number,
): Promise<number | null> {
  const next = version + 1
  const row = { version: next, sealed, updated_at_ms: nowMs }
  const changed =
    version === 0
      ? await db
          .insertInto('acme_state')
          .values({ id: 1, ...row })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
          .then(({ numInsertedOrUpdatedRows }) => numInsertedOrUpdatedRows)
      : await db
          .updateTable('acme_state')
          .set(row)
          .where('version', '=', version)
          .executeTakeFirst()
          .then(({ numUpdatedRows }) => numUpdatedRows)
  if (Number(changed ?? 0) === 0) return null
  await sql`select pg_notify(${certificatesChannel}, '')`.execute(db)
  return next
}
