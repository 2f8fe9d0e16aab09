// The licence of the installation, in the only row of the table `installation`.
import type { Selectable } from 'kysely'
import type { LicenceRecord, Licences, Trial, TrialKind } from '../ports/licences.ts'
import type { Sql } from './database/sql.ts'
import type { Db, InstallationTable } from './database/tables.ts'

export function createSqlLicences(database: Sql): Licences {
  return {
    load: (candidate) =>
      database.repeatable(async (db) => {
        await db
          .insertInto('installation')
          .values({ id: 1, install_id: candidate })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute()
        return recordOf(await select(db))
      }),
    saveLicence: (licence) =>
      database.repeatable(async (db) => {
        await db
          .updateTable('installation')
          .set({
            licence_token: licence?.token ?? null,
            licence_source: licence?.source ?? null,
            licence_saved_at_ms: licence?.savedAtMs ?? null,
          })
          .where('id', '=', 1)
          .execute()
      }),
    beginTrial: (trial) =>
      database.repeatable(async (db) => {
        await db
          .updateTable('installation')
          .set({
            trial_kind: trial.kind,
            trial_started_at_ms: trial.startedAtMs,
            trial_expires_at_ms: trial.expiresAtMs,
          })
          .where('id', '=', 1)
          .where('trial_kind', 'is', null)
          .execute()
        return recordOf(await select(db)).trial!
      }),
  }
}

async function select(db: Db): Promise<Selectable<InstallationTable>> {
  const query = db.selectFrom('installation').selectAll().where('id', '=', 1)
  return await query.executeTakeFirstOrThrow()
}

function recordOf(row: Selectable<InstallationTable>): LicenceRecord {
  return {
    installId: row.install_id,
    licence:
      row.licence_token === null
        ? null
        : {
            token: row.licence_token,
            source: row.licence_source!,
            savedAtMs: row.licence_saved_at_ms!,
          },
    trial: trialOf(row),
  }
}

function trialOf(row: Selectable<InstallationTable>): Trial | null {
  if (row.trial_kind === null) return null
  return {
    kind: row.trial_kind as TrialKind,
    startedAtMs: row.trial_started_at_ms!,
    expiresAtMs: row.trial_expires_at_ms!,
  }
}
