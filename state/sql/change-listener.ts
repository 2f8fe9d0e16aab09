// Hears what other nodes write into a PostgreSQL database, by LISTEN on a connection of its own.
import pg from 'pg'
import { backoffMs } from '#lib/backoff.ts'
import type { After } from '#lib/timer.ts'
import { sqlLimits } from './database/limits.ts'

export interface ChangeListener {
  readonly close: () => Promise<void>
}

const pauses = { firstMs: 500, mostMs: 10_000 }

/**
 * A connection that breaks is made anew. Behind a pooler that takes LISTEN and tells nothing, there
 * are no notices: who needs to know looks from time to time as well.
 *
 * @param url `postgresql://user:password@host:port/database`; it is a secret
 * @param onNotice given what was told; called without when the connection is there, since some
 *   may have been missed
 */
export function listenForChanges(
  url: string,
  channel: string,
  onNotice: (text?: string) => void,
  after: After,
): ChangeListener {
  let client: pg.Client | undefined
  let isClosed = false
  let failures = 0
  let callOff = (): void => undefined
  const connect = async (): Promise<void> => {
    const made = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: sqlLimits.connectTimeoutMs,
      application_name: 'gslbd',
      keepAlive: true,
    })
    client = made
    let isLost = false
    const lose = (): void => {
      if (isLost) return
      isLost = true
      made.end().catch(() => undefined)
      if (!isClosed) callOff = after(backoffMs(pauses, ++failures), () => void connect())
    }
    made.on('error', lose)
    made.on('end', lose)
    made.on('notification', ({ payload }) => onNotice(payload))
    try {
      await made.connect()
      await made.query(`listen ${pg.escapeIdentifier(channel)}`)
      failures = 0
      onNotice()
    } catch {
      lose()
    }
  }
  void connect()
  return {
    close: async () => {
      isClosed = true
      callOff()
      await client?.end().catch(() => undefined)
    },
  }
}
