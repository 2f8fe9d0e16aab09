// Health verdicts in the table `health_verdicts`, with rows per node.
import type { HealthVerdicts, StoredVerdict } from '../ports/health-verdicts.ts'
import { orReject } from '../ports/store-result.ts'
import { slices } from './database/limits.ts'
import type { Sql } from './database/sql.ts'

/** @param node  the node's name, which it keeps over restarts */
export function createSqlHealthVerdicts(database: Sql, node: string): HealthVerdicts {
  return {
    load: () =>
      orReject(
        database.repeatable(async (db) => {
          const rows = await db
            .selectFrom('health_verdicts')
            .selectAll()
            .where('node', '=', node)
            .execute()
          return rows.map(({ member_uid, ip_address, healthy, warming, at_ms }) => ({
            memberUid: member_uid,
            ipAddress: ip_address,
            healthy,
            warming,
            atMs: at_ms,
          }))
        }),
      ),
    save: (verdicts) => {
      // A statement must not contain the same row twice.
      const rows = [...new Map(verdicts.map((one) => [keyOf(one), rowOf(node, one)])).values()]
      return orReject(
        database.repeatable(async (db) => {
          for (const some of slices(rows)) {
            await db
              .insertInto('health_verdicts')
              .values(some)
              .onConflict((conflict) =>
                conflict.columns(['node', 'member_uid', 'ip_address']).doUpdateSet((from) => ({
                  healthy: from.ref('excluded.healthy'),
                  warming: from.ref('excluded.warming'),
                  at_ms: from.ref('excluded.at_ms'),
                })),
              )
              .execute()
          }
        }),
      )
    },
    forget: (owners) =>
      orReject(
        database.repeatable(async (db) => {
          for (const { memberUid, ipAddress } of owners) {
            await db
              .deleteFrom('health_verdicts')
              .where('node', '=', node)
              .where('member_uid', '=', memberUid)
              .where('ip_address', '=', ipAddress)
              .execute()
          }
        }),
      ),
  }
}

const keyOf = ({ memberUid, ipAddress }: StoredVerdict): string => `${memberUid} ${ipAddress}`

const rowOf = (node: string, verdict: StoredVerdict) => ({
  node,
  member_uid: verdict.memberUid,
  ip_address: verdict.ipAddress,
  healthy: verdict.healthy,
  warming: verdict.warming,
  at_ms: verdict.atMs,
})
