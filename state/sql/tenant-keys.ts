// Hashes of API keys in the table `tenant_keys`.
import { withFaults } from '../ports/store-result.ts'
import type { TenantKeys } from '../ports/tenant-keys.ts'
import type { Sql } from './database/sql.ts'

export function createSqlTenantKeys(database: Sql): TenantKeys {
  return {
    put: (tenantId, hash, nowMs) => {
      const put = database.repeatable(async (db) => {
        const row = { tenant_id: tenantId, key_hash: hash, created_at_ms: nowMs }
        const taken = await db
          .selectFrom('tenant_keys')
          .select('tenant_id')
          .where('key_hash', '=', hash)
          .where('tenant_id', '!=', tenantId)
          .executeTakeFirst()
        if (taken !== undefined) return 'hash-taken'
        await db
          .insertInto('tenant_keys')
          .values(row)
          .onConflict((conflict) =>
            conflict.column('tenant_id').doUpdateSet({ key_hash: hash, created_at_ms: nowMs }),
          )
          .execute()
        return undefined
      })
      return withFaults(put, { 'hash-taken': 'Another tenant has this key.' })
    },
    findTenant: (hash) =>
      database.repeatable(async (db) => {
        const query = db.selectFrom('tenant_keys').select('tenant_id')
        const row = await query.where('key_hash', '=', hash).executeTakeFirst()
        return row?.tenant_id ?? null
      }),
    remove: (tenantId) =>
      database.once(async (db) => {
        const query = db.deleteFrom('tenant_keys').where('tenant_id', '=', tenantId)
        return (await query.executeTakeFirst()).numDeletedRows > 0n
      }),
  }
}
