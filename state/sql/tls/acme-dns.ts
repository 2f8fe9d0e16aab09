// Accounts of the acme-dns endpoint in the table `acme_dns_accounts`.
import type { AcmeDnsAccount, AcmeDnsStore } from '#state/ports/acme-dns.ts'
import { withFaults } from '#state/ports/store-result.ts'
import type { Sql } from '../database/sql.ts'
import type { AcmeDnsAccountsTable, Db } from '../database/tables.ts'

export function createSqlAcmeDns(database: Sql): AcmeDnsStore {
  return {
    create: (account, max) => {
      const created = database.once(async (db) => {
        if ((await accountCount(db)) >= max) return 'too-many-accounts'
        await db
          .insertInto('acme_dns_accounts')
          .values({
            ...{ username: account.username, password_hash: account.passwordHash },
            ...{ subdomain: account.subdomain, allow_from: JSON.stringify(account.allowFrom) },
            created_at_ms: account.createdAtMs,
          })
          .execute()
        return undefined
      })
      return withFaults(created, { 'too-many-accounts': tooMany(max) })
    },
    find: (username) =>
      database.repeatable(async (db) => {
        const rows = db.selectFrom('acme_dns_accounts').selectAll()
        const row = await rows.where('username', '=', username).executeTakeFirst()
        return row === undefined ? null : accountOf(row)
      }),
    list: () =>
      database.repeatable(async (db) => {
        const rows = await db.selectFrom('acme_dns_accounts').selectAll().execute()
        return rows.map(accountOf)
      }),
    delete: (username) =>
      database.once(async (db) => {
        const deleted = db.deleteFrom('acme_dns_accounts').where('username', '=', username)
        return (await deleted.returning('username').execute()).length > 0
      }),
  }
}

const accountOf = (row: AcmeDnsAccountsTable): AcmeDnsAccount => ({
  ...{ username: row.username, passwordHash: row.password_hash, subdomain: row.subdomain },
  ...{ allowFrom: JSON.parse(row.allow_from) as string[], createdAtMs: row.created_at_ms },
})

const tooMany = (max: number): string =>
  `There are ${max} keys of the acme-dns endpoint already; delete one that is not used any more.`

async function accountCount(db: Db): Promise<number> {
  const counted = db
    .selectFrom('acme_dns_accounts')
    .select((from) => from.fn.countAll<number>().as('all'))
  return Number((await counted.executeTakeFirstOrThrow()).all)
}
