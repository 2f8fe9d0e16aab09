// PostgreSQL behind PgBouncer, which refuses startup parameters that it does not know.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql } from 'kysely'
import { systemClock } from '#lib/clock.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentOptions, PersistentState } from '#state/persistent.ts'
import { freePort } from '#test/support/free-port.ts'
import { account, startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { valueOf } from '#test/support/store-values.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

let server: PostgresServer
let url: string
let stop: () => Promise<void>

beforeAll(async () => {
  server = await startPostgres()
  const directory = makeTempDir('pgbouncer')
  const port = await freePort()
  const config = join(directory, 'pgbouncer.ini')
  const lines = [
    ...['[databases]', `postgres = host=127.0.0.1 port=${server.port} user=gslbd`, '[pgbouncer]'],
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
  ]
  writeFileSync(config, `${lines.join('\n')}\npool_mode = session\n`)
  if (account.uid !== undefined) {
    for (const path of [directory, config]) chownSync(path, account.uid, account.gid!)
  }
  const child = spawn('pgbouncer', [config], { ...account, cwd: directory, stdio: 'ignore' })
  stop = async () => {
    child.kill('SIGKILL')
    await server.stop()
    removeTempDir(directory)
  }
  await waitUntil('PgBouncer', async () => {
    const socket = connect(port, '127.0.0.1')
    const isThere = once(socket, 'connect').then(
      () => true,
      () => false,
    )
    return isThere.finally(() => socket.destroy())
  })
  url = `postgresql://gslbd@127.0.0.1:${port}/postgres`
})
afterAll(() => stop())

async function state(pool: NonNullable<PersistentOptions['pool']>): Promise<PersistentState> {
  const options = { url, pool, dataDir: '/nowhere', clock: systemClock }
  const opened = await createPersistent(options)
  if (!opened.ok) throw new Error(opened.error)
  onTestFinished(() => opened.value.close())
  return opened.value
}

test('a fault of PgBouncer is in the reason, with the setting that helps', async () => {
  const { status, users } = await state({})
  const fault =
    /\(08P01: unsupported startup parameter: [a-z_]+\)\. .*database\.startupParameters to false/
  expect(status()).toMatchObject({ state: 'away', fault: expect.stringMatching(fault) as string })
  const asked = await users.hasAny()
  expect(asked).toMatchObject({
    ok: false,
    error: { code: 'store-away', message: expect.stringMatching(fault) as string },
  })
})

test('without startup parameters it works, and the timeouts hold', async () => {
  const node = await state({ startupParameters: false, statementTimeoutMs: 700, connections: 3 })
  expect(await valueOf(node.users.hasAny())).toBe(false)
  const shown = node.sql.repeatable(async (db) => {
    const read = async (name: string) =>
      (await sql<Record<string, string>>`show ${sql.raw(name)}`.execute(db)).rows[0]?.[name]
    return [await read('statement_timeout'), await read('idle_in_transaction_session_timeout')]
  })
  expect(await valueOf(shown)).toEqual(['700ms', '700ms'])
  const slow = await node.sql.once((db) => sql`select pg_sleep(20)`.execute(db))
  expect(slow).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('57014') as string },
  })
})
