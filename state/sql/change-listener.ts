// Receives notices of other nodes' writes to a PostgreSQL database, by LISTEN on a connection of
// its own.
import pg from 'pg'
import { backoffMs } from '#lib/backoff.ts'
import type { After } from '#lib/timer.ts'
import { findPrimary, postgresHosts, takesWrites } from './database/find-primary.ts'
import { sqlLimits } from './database/limits.ts'

export interface ChangeListener {
  readonly close: () => Promise<void>
}

const pauses = { firstMs: 500, mostMs: 10_000 }
/** How often the server is asked: nobody says that it is gone, or takes no writes any more. */
const lookEveryMs = 30_000

/**
 * Reconnects when the connection breaks. Some poolers accept LISTEN but deliver no notices, so a
 * reader that must know polls as well.
 *
 * @param address `postgresql://user:password@host:port/database`; with several hosts, the one that
 * takes writes sends notices; a secret
 * @param onNotice called with each notice; without one after each connect, since notices may have
 * been missed
 */
export function listenForChanges(
  address: string,
  channel: string,
  onNotice: (text?: string) => void,
  after: After,
): ChangeListener {
  let client: pg.Client | undefined
  let isClosed = false
  let failures = 0
  let callOff = (): void => undefined
  const again = (): void => {
    callOff()
    if (!isClosed) callOff = after(backoffMs(pauses, ++failures), () => void connect())
  }
  const connect = async (): Promise<void> => {
    const url = await urlNow(address)
    if (isClosed) return
    if (url === undefined) return again()
    const made = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: sqlLimits.connectTimeoutMs,
      query_timeout: sqlLimits.statementTimeoutMs,
      application_name: 'gslbd',
      keepAlive: true,
    })
    client = made
    let isLost = false
    const lose = (): void => {
      if (isLost) return
      isLost = true
      made.end().catch(() => undefined)
      again()
    }
    made.on('error', lose)
    made.on('end', lose)
    made.on('notification', ({ payload }) => onNotice(payload))
    const look = async (): Promise<void> => {
      const writes = await takesWrites(made).catch(() => false)
      if (!writes) return lose()
      failures = 0
      if (!isLost && !isClosed) callOff = after(lookEveryMs, () => void look())
    }
    try {
      await made.connect()
      await made.query(`listen ${pg.escapeIdentifier(channel)}`)
      onNotice()
      await look()
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

/** undefined: no server takes writes now. */
async function urlNow(address: string): Promise<string | undefined> {
  const hosts = postgresHosts(address)
  if (!hosts.ok) return undefined
  return await findPrimary(hosts.value).then(
    ({ url }) => url,
    () => undefined,
  )
}
