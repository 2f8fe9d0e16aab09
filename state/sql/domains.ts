// Results of checks of delegated domains in the table `domain_checks`; a row is claimed by a time.
import { assert } from '#lib/assert.ts'
import { domainLimits } from '../ports/domains.ts'
import type { DomainResult, Domains } from '../ports/domains.ts'
import { slices, sqlLimits } from './database/limits.ts'
import type { Sql } from './database/sql.ts'

export function createSqlDomains(database: Sql): Domains {
  return {
    claim: (candidates, times) => claim(database, candidates, times),
    put: (uid, result) => put(database, uid, result),
    results: (uids) =>
      database.repeatable(async (db) => {
        const found = new Map<string, DomainResult>()
        for (const some of slices(uids)) {
          const rows = await db
            .selectFrom('domain_checks')
            .select(['uid', 'result'])
            .where('uid', 'in', some)
            .execute()
          for (const { uid, result } of rows) {
            if (result !== null) found.set(uid, JSON.parse(result) as DomainResult)
          }
        }
        return found
      }),
    forget: (uids) =>
      database.repeatable(async (db) => {
        for (const some of slices(uids)) {
          await db.deleteFrom('domain_checks').where('uid', 'in', some).execute()
        }
      }),
  }
}

type Claim = Domains['claim']

function claim(
  database: Sql,
  candidates: Parameters<Claim>[0],
  { nowMs, dueBeforeMs, untilMs }: Parameters<Claim>[1],
): ReturnType<Claim> {
  assert(candidates.length <= sqlLimits.rowsPerStatement, 'a claim is one statement')
  // In the same order on all nodes, to prevent deadlocks.
  const rows = candidates
    .map(({ uid, domain }) => ({
      ...{ uid, domain, verified_at_ms: null, result: null },
      claimed_until_ms: untilMs,
    }))
    .toSorted((a, b) => (a.uid < b.uid ? -1 : 1))
  return database.once(async (db) => {
    if (rows.length === 0) return new Set<string>()
    const claimed = await db
      .insertInto('domain_checks')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('uid')
          .doUpdateSet({ claimed_until_ms: untilMs })
          .where('domain_checks.claimed_until_ms', '<=', nowMs)
          .where((eb) =>
            eb.or([
              eb('domain_checks.verified_at_ms', 'is', null),
              eb('domain_checks.verified_at_ms', '<=', dueBeforeMs),
              eb('domain_checks.domain', '<>', eb.ref('excluded.domain')),
            ]),
          ),
      )
      .returning('uid')
      .execute()
    return new Set(claimed.map(({ uid }) => uid))
  })
}

function put(database: Sql, uid: string, result: DomainResult): ReturnType<Domains['put']> {
  const { domain, verifiedAtMs } = result
  const text = JSON.stringify(result)
  assert(text.length <= domainLimits.resultMax, 'a result of a check is bounded')
  const row = { domain, verified_at_ms: verifiedAtMs, result: text, claimed_until_ms: 0 }
  return database.repeatable(async (db) => {
    await db
      .insertInto('domain_checks')
      .values({ uid, ...row })
      .onConflict((conflict) =>
        conflict
          .column('uid')
          .doUpdateSet(row)
          .where((eb) =>
            eb.or([
              eb('domain_checks.verified_at_ms', 'is', null),
              eb('domain_checks.verified_at_ms', '<=', verifiedAtMs),
            ]),
          ),
      )
      .execute()
    const tooOldMs = verifiedAtMs - domainLimits.keptMs
    await db.deleteFrom('domain_checks').where('verified_at_ms', '<', tooOldMs).execute()
  })
}
