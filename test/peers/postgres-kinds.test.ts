// PostgreSQL as people run it: with TLS, and two servers of which one takes writes. Real servers;
// the primary is killed, and its standby is promoted.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { systemAfter } from '#lib/timer.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentOptions, PersistentState } from '#state/persistent.ts'
import { listenForChanges } from '#state/sql/change-listener.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { valueOf } from '#test/support/store-values.ts'
import { startPassage } from '#test/support/tcp-passage.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

async function server(...args: Parameters<typeof startPostgres>): Promise<PostgresServer> {
  const started = await startPostgres(...args)
  onTestFinished(started.stop)
  return started
}

async function state(url: string, pool: PersistentOptions['pool'] = {}): Promise<PersistentState> {
  const options = { url, pool, dataDir: '/nowhere', clock: systemClock }
  const opened = await createPersistent(options)
  if (!opened.ok) throw new Error(opened.error)
  onTestFinished(() => opened.value.close())
  return opened.value
}

const write = (to: PersistentState, seen: number) =>
  to.deliveries.replace('main', seen, { decider: 'n', state: '{}' })
const revisionIn = async (of: PersistentState): Promise<number | undefined> =>
  (await valueOf(of.deliveries.read('main')))?.revision

test('several hosts: the one that takes writes is used, and followed', async () => {
  const primary = await server()
  const standby = await server({ standbyOf: primary })
  // The standby is the first in the list, and a third host is away.
  const hosts = `127.0.0.1:1,127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
  const url = `postgresql://gslbd@${hosts}/postgres?target_session_attrs=read-write`
  const node = await state(url)
  expect(node.status()).toMatchObject({ state: 'up' })
  expect(await valueOf(write(node, 0))).toBe(true)
  const heard = new Set<string | undefined>()
  const hear = (text?: string): void => void heard.add(text)
  const listener = listenForChanges(url, 'gslbd_test', hear, systemAfter)
  onTestFinished(() => listener.close())
  await waitUntil('the listener', () => heard.size > 0)
  await waitUntil('the copy', async () => {
    const reader = await standby.sql('select count(*) from deliveries').catch(() => '')
    return reader === '1'
  })
  await primary.kill()
  // Nobody takes writes: the node says so, and does not wait for long.
  const refused = await write(node, 1)
  expect(refused.ok).toBe(false)
  expect(node.status()).toMatchObject({ state: 'away' })
  await waitUntil('what to do', async () => {
    await write(node, 1)
    return node.status().fault?.endsWith('is a standby, which takes no writes: promote one.')
  })
  await standby.sql('select pg_promote()')
  await waitUntil('the promoted one', async () => (await write(node, 1)).ok)
  expect([await revisionIn(node), node.status().state]).toEqual([2, 'up'])
  await waitUntil('a notice of the promoted one', async () => {
    await standby.sql("notify gslbd_test, 'promoted'")
    return heard.has('promoted')
  })
})

test('one address that leads to another server: the old one is given up', async () => {
  const primary = await server()
  const standby = await server({ standbyOf: primary })
  let { port } = primary
  const passage = await startPassage(() => port)
  onTestFinished(passage.stop)
  const url = `postgresql://gslbd@127.0.0.1:${passage.port}/postgres`
  const node = await state(url)
  expect(await valueOf(write(node, 0))).toBe(true)
  const heard = new Set<string | undefined>()
  const soon: typeof systemAfter = (delayMs, fn) => systemAfter(Math.min(delayMs, 100), fn)
  const listener = listenForChanges(url, 'gslbd_test', (text) => heard.add(text), soon)
  onTestFinished(() => listener.close())
  await waitUntil('the listener', () => heard.size > 0)
  await waitUntil('the copy', async () => {
    return (await standby.sql('select count(*) from deliveries').catch(() => '')) === '1'
  })
  // As a fail-over with a proxy does it that ends no connection.
  await primary.sql('alter system set default_transaction_read_only = on')
  await primary.sql('select pg_reload_conf()')
  await standby.sql('select pg_promote()')
  await waitUntil(
    'the promotion',
    async () => (await standby.sql('select pg_is_in_recovery()')) === 'f',
  )
  port = standby.port
  await waitUntil('the promoted one', async () => (await write(node, 1)).ok)
  expect([await revisionIn(node), node.status().state]).toEqual([2, 'up'])
  await waitUntil('a notice of the promoted one', async () => {
    await standby.sql("notify gslbd_test, 'promoted'")
    return heard.has('promoted')
  })
})

test('a server that takes no writes for long is asked ever more rarely', async () => {
  const { port } = await server()
  const readOnly = encodeURIComponent('-c default_transaction_read_only=on')
  const url = `postgresql://gslbd@127.0.0.1:${port}/postgres?options=${readOnly}`
  const pausesMs: number[] = []
  const soon: typeof systemAfter = (delayMs, fn) => {
    pausesMs.push(delayMs)
    return pausesMs.length < 4 ? systemAfter(0, fn) : () => undefined
  }
  const listener = listenForChanges(url, 'gslbd_test', () => undefined, soon)
  onTestFinished(() => listener.close())
  await waitUntil('four tries', () => pausesMs.length === 4)
  expect(pausesMs).toEqual([500, 1_000, 2_000, 4_000])
})

test('with TLS: the authority is checked, and a fault does not say the password', async () => {
  const home = tempDir('postgres-tls')
  const [cert, key] = [join(home, 'cert.pem'), join(home, 'key.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=pg', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const files = ['-days', '2', '-out', cert, '-keyout', key]
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files], { stdio: 'ignore' })
  const secure = await server({ tls: { cert: readFileSync(cert), key: readFileSync(key) } })
  const address = `postgresql://gslbd:secret-word@127.0.0.1:${secure.port}/postgres`
  const node = await state(`${address}?sslmode=verify-full&sslrootcert=${cert}`)
  expect(await valueOf(write(node, 0))).toBe(true)
  const inUse = 'select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid) '
  expect(await secure.sql(`${inUse} where s.ssl and a.application_name = 'gslbd'`)).not.toBe('0')
  const strange = await state(`${address}?sslmode=verify-full`)
  expect(strange.status()).toMatchObject({ state: 'away' })
  expect(strange.status().fault).toContain('SELF_SIGNED')
  expect(strange.status().fault).not.toContain('secret')
})

test('no more connections than the settings say, and no statement runs for longer', async () => {
  const one = await server()
  const node = await state(one.url, { connections: 2, statementTimeoutMs: 300 })
  await Promise.all(Array.from({ length: 20 }, () => valueOf(node.deliveries.read('main'))))
  const count = "select count(*) from pg_stat_activity where application_name = 'gslbd'"
  expect(Number(await one.sql(count))).toBeLessThanOrEqual(2)
  const slow = await node.sql.once(async (db) => {
    await sql`select pg_sleep(60)`.execute(db)
  })
  expect(slow.ok ? '' : slow.error.message).toContain('57014')
  // The server is well: one statement was too slow.
  expect(node.status().state).toBe('up')
})
