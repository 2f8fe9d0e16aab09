// The certificate of an ACME server in the table `acme_state`, which has one row.
import { sql } from 'kysely'
import { assert } from '#lib/assert.ts'
import { certificateLimits } from '#state/ports/certificates.ts'
import type { CertificateStore } from '#state/ports/certificates.ts'
import { withFaults } from '#state/ports/store-result.ts'
import type { Sql } from '../database/sql.ts'
import type { Db } from '../database/tables.ts'
import { replaceRow } from '../replace-row.ts'

/** Nodes listen on it; what a notice says is that there is something to look at. */
export const certificatesChannel = 'gslbd_certificates'

export function createSqlCertificates(database: Sql): CertificateStore {
  return {
    load: () =>
      database.repeatable(async (db) => {
        // A row even where nothing is stored: the clock is asked for with it.
        const { rows } = await sql<Loaded>`select
          floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms, version, sealed
          from (select 1) as one left join acme_state on true`.execute(db)
        const { now_ms: nowMs, version, sealed } = rows[0]!
        const stored =
          version === null || sealed === null ? null : { version: Number(version), sealed }
        return { stored, nowMs: Number(nowMs) }
      }),
    swap: (version, sealed, nowMs) => {
      assert(sealed.length <= certificateLimits.sealedMax, 'what is sealed was bounded before')
      const swapped = database.once((db) =>
        db.transaction().execute((transaction) => swap(transaction, version, sealed, nowMs)),
      )
      return withFaults(swapped, {
        'changed-meanwhile': 'Another node changed the certificate first.',
      })
    },
  }
}

interface Loaded {
  readonly now_ms: number
  readonly version: number | null
  readonly sealed: string | null
}

async function swap(
  db: Db,
  version: number,
  sealed: string,
  nowMs: number,
): Promise<number | 'changed-meanwhile'> {
  const next = version + 1
  const row = { id: 1, version: next, sealed, updated_at_ms: nowMs }
  const isFirst = await replaceRow(db, 'acme_state', version === 0 ? null : { version }, row)
  if (!isFirst) return 'changed-meanwhile'
  await sql`select pg_notify(${certificatesChannel}, '')`.execute(db)
  return next
}
