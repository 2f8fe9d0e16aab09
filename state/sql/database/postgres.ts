// PostgreSQL over the network, through a connection pool.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { sqlLimits } from './limits.ts'
import type { SqlDriver } from './sql.ts'
import type { Tables } from './tables.ts'

/** PostgreSQL's number for the type `bigint`. */
const bigintType = 20

/** @param url `postgresql://user:password@host:port/database`; it is a secret */
export function postgresDriver(url: string): SqlDriver {
  return async () => {
    const pool = new pg.Pool({
      connectionString: url,
      max: sqlLimits.connectionsMax,
      connectionTimeoutMillis: sqlLimits.connectTimeoutMs,
      statement_timeout: sqlLimits.statementTimeoutMs,
      query_timeout: sqlLimits.statementTimeoutMs + sqlLimits.replyGraceMs,
      idle_in_transaction_session_timeout: sqlLimits.statementTimeoutMs,
      application_name: 'gslbd',
      keepAlive: true,
      types: { getTypeParser },
    })
    // A connection that breaks ends its call with an error, and the pool replaces it. It also says
    // so by itself, idle or between two statements of a transaction: unheard, that ends the
    // process.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => client.on('error', () => undefined))
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    return { db, close: () => db.destroy(), isBroken: () => false }
  }
}

/** Every `bigint` of ours is a time or a count below 2^53. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary'): unknown =>
  oid === bigintType && format !== 'binary'
    ? Number
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
