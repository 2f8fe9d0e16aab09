// Finds the PostgreSQL server that takes writes, for an address with several hosts.
import pg from 'pg'
import { listedHosts } from '#state/ports/host-list.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { sqlLimits } from './limits.ts'

/**
 * The servers of an address, each with its own address. Errors: a sentence, without the address.
 */
export function postgresHosts(url: string): Result<readonly PostgresHost[], string> {
  const hosts = listedHosts(url)
  // An unparsable address, such as one with an unusual password, is left to the driver.
  if (hosts === undefined) return url.includes(',') ? err(badHosts) : ok([{ url, host: '' }])
  const wanted = new URL(hosts[0]!.url).searchParams.get(attribute) ?? ''
  if (!known.includes(wanted)) return err(badAttribute)
  return ok(hosts.map((one) => ({ host: one.host, url: without(one.url) })))
}

export interface PostgresHost {
  /** For the log; '': the address cannot be parsed. */
  readonly host: string
  /** A secret. */
  readonly url: string
}

const attribute = 'target_session_attrs'
/** Values that ask for a server that takes writes, the only kind of use here. */
const known: readonly string[] = ['', 'read-write', 'primary']
const badHosts =
  'database.url is not of the form postgresql://user:password@one:5432,two:5432/name. In a ' +
  'password write @ / ? # as %40 %2F %3F %23.'
const badAttribute =
  'database.url: target_session_attrs may be read-write or primary, for a node has to write. ' +
  'Mend or remove it.'

/** The driver would send the parameter to the server, which does not know it. */
function without(url: string): string {
  const parsed = new URL(url)
  if (!parsed.searchParams.has(attribute)) return url
  parsed.searchParams.delete(attribute)
  return parsed.href
}

/**
 * Asks all hosts at once and takes the first, in their order, that takes writes.
 *
 * @throws the error of the last one; SQLSTATE 25006 where all that answer are read-only
 */
export async function findPrimary(hosts: readonly PostgresHost[]): Promise<PostgresHost> {
  const [only] = hosts
  if (hosts.length === 1 && only !== undefined) return only
  const asked = hosts.map((host) => askHost(host))
  let fault: unknown
  for (const [i, answer] of asked.entries()) {
    const found = await answer
    if (found.ok && found.value) return hosts[i]!
    if (!found.ok) fault ??= found.error
    else fault = readOnly
  }
  throw fault
}

const readOnly = Object.assign(new Error('no server takes writes'), { code: '25006' })

/** @throws the driver's error */
export async function takesWrites(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ readonly transaction_read_only: string }>(
    'show transaction_read_only',
  )
  return rows[0]?.transaction_read_only === 'off'
}

async function askHost({ url }: PostgresHost): Promise<Result<boolean, unknown>> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: sqlLimits.connectTimeoutMs,
    query_timeout: sqlLimits.connectTimeoutMs,
    application_name: 'gslbd',
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return ok(await takesWrites(client))
  } catch (error) {
    return err(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}
