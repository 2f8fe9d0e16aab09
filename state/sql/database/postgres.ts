// PostgreSQL over the network, through a connection pool.
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { findPrimary } from './find-primary.ts'
import type { PostgresHost } from './find-primary.ts'
import { sqlLimits } from './limits.ts'
import type { SqlDriver } from './sql.ts'
import type { Tables } from './tables.ts'

/** PostgreSQL's number for the type `bigint`. */
const bigintType = 20

export interface PostgresOptions {
  readonly hosts: readonly PostgresHost[]
  /** At once. */
  readonly connections?: number
  readonly statementTimeoutMs?: number
  /** Left out: true. false: a pooler is asked, which takes no parameters it does not know. */
  readonly startupParameters?: boolean
}

/** Connects to the host that takes writes now; looks for another one when it no longer does. */
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
    // A connection that breaks ends its call with an error, and the pool replaces it. It also says
    // so by itself, idle or between two statements of a transaction: unheard, that ends the
    // process.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => client.on('error', () => undefined))
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    return {
      db,
      close: async () => {
        const closed = db.destroy()
        // A server that has gone may keep statements that wait for it: nobody waits for them.
        if (isElsewhere) closed.catch(() => undefined)
        else await closed
      },
      isBroken: () => isElsewhere,
      // One host that is away comes back under its address.
      onFault: () => (isElsewhere = hosts.length > 1),
    }
  }
}

const timeoutsOf = (ms: number) => ({
  statement_timeout: ms,
  idle_in_transaction_session_timeout: ms,
})

/** The taker of the connection waits for it, and gets what it throws. */
function setTimeouts(ms: number): pg.PoolConfig['onConnect'] {
  const statements = Object.entries(timeoutsOf(ms)).map(([name, value]) => `SET ${name} = ${value}`)
  return ((client) => client.query(statements.join('; '))) as (client: pg.ClientBase) => void
}

/** Every `bigint` of ours is a time or a count below 2^53. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary'): unknown =>
  oid === bigintType && format !== 'binary'
    ? Number
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
