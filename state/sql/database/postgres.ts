// PostgreSQL over the network, through a connection pool.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { isReadOnly } from './faults.ts'
import { findPrimary } from './find-primary.ts'
import type { PostgresHost } from './find-primary.ts'
import { sqlLimits } from './limits.ts'
import type { SqlDriver } from './sql.ts'
import type { Tables } from './tables.ts'

/** PostgreSQL's type number of `bigint`. */
const bigintType = 20

export interface PostgresOptions {
  readonly hosts: readonly PostgresHost[]
  /** Number of simultaneous connections. */
  readonly connections?: number
  readonly statementTimeoutMs?: number
  /** false: for a pooler that refuses startup parameters. Left out: true. */
  readonly startupParameters?: boolean
}

/** Connects to the host that takes writes; finds another one when it stops doing so. */
export function postgresDriver(options: PostgresOptions): SqlDriver {
  const { hosts, connections = sqlLimits.connectionsMax } = options
  const statementTimeoutMs = options.statementTimeoutMs ?? sqlLimits.statementTimeoutMs
  return async () => {
    const { url } = await findPrimary(hosts)
    let isElsewhere = false
    const pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: sqlLimits.connectTimeoutMs,
      query_timeout: statementTimeoutMs + sqlLimits.replyGraceMs,
      ...(options.startupParameters === false
        ? { onConnect: setTimeouts(statementTimeoutMs) }
        : timeoutsOf(statementTimeoutMs)),
      application_name: 'gslbd',
      keepAlive: true,
      types: { getTypeParser },
    })
    // A broken connection fails its call, and the pool replaces it. It also emits an error, idle or
    // between two statements of a transaction: without a listener that would end the process.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => client.on('error', () => undefined))
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    return {
      db,
      close: async () => {
        const closed = db.destroy()
        // Statements may hang on a server that is gone: they are not waited for.
        if (isElsewhere) closed.catch(() => undefined)
        else await closed
      },
      isBroken: () => isElsewhere,
      // A single host comes back under the same address. One that takes no writes any more may
      // keep its connections, while a proxy or a name leads new ones to its successor.
      onFault: (fault) => (isElsewhere ||= hosts.length > 1 || isReadOnly(fault)),
    }
  }
}

const timeoutsOf = (ms: number) => ({
  statement_timeout: ms,
  idle_in_transaction_session_timeout: ms,
})

/** The user of the connection waits for it, and gets its error. */
function setTimeouts(ms: number): pg.PoolConfig['onConnect'] {
  const statements = Object.entries(timeoutsOf(ms)).map(([name, value]) => `SET ${name} = ${value}`)
  return ((client) => client.query(statements.join('; '))) as (client: pg.ClientBase) => void
}

/** Every `bigint` of ours is a time or a count below 2^53. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary'): unknown =>
  oid === bigintType && format !== 'binary'
    ? Number
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
