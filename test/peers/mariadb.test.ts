// The tcp probe at a MariaDB: after how many it takes no more logins from the node's address.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { networkInterfaces, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProbes } from '#health/probes/probes.ts'
import { defaultProbeSettings } from '#health/probes/probe-settings.ts'
import { healthCheck } from '#test/support/bundle-models.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const note = (): void => undefined
const probes = createProbes({
  ...defaultProbeSettings,
  log: { info: note, warn: note, error: note },
})
/** Not of loopback, which is never blocked. */
const outer = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

const directory = makeTempDir('mariadb')
let mariadbd: ChildProcess | undefined
let port: number
beforeAll(async () => {
  const user = `--user=${userInfo().username}`
  const data = `--datadir=${join(directory, 'data')}`
  const install = ['--no-defaults', data, user, '--skip-test-db']
  const installed = await saidBy('mariadb-install-db', [
    ...install,
    '--auth-root-authentication-method=normal',
  ])
  expect(installed.code, installed.text).toBe(0)
  port = await freePort()
  const files = ['socket', 'pid-file'].map((name) => `--${name}=${join(directory, name)}`)
  const options = [`--port=${port}`, '--bind-address=*', '--innodb-buffer-pool-size=8M']
  const args = ['--no-defaults', data, user, ...files, ...options]
  mariadbd = spawn('/usr/sbin/mariadbd', args, { stdio: 'ignore' })
  const isUp = () => sql("CREATE USER app@'%'").then(({ code }) => code === 0)
  await waitUntil('MariaDB', isUp, { timeoutMs: 60_000 })
}, 120_000)
afterAll(async () => {
  if (mariadbd !== undefined) {
    const ended = once(mariadbd, 'close')
    mariadbd.kill('SIGTERM')
    await ended
  }
  removeTempDir(directory)
})

const sql = (statement: string) =>
  saidBy('mariadb', ['--no-defaults', '-S', join(directory, 'socket'), '-N', '-e', statement])

/** What the server says first to a client. */
async function greeting(host: string): Promise<string> {
  const socket = createConnection({ host, port })
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return first.toString('latin1')
}

async function probe(ipAddress: string, times: number): Promise<void> {
  const check = { ...healthCheck, type: 'tcp', timeoutMs: 20_000, port } as const
  const target = { memberUid: 'm1', ipAddress, check, checkKey: '', pool: 'db' }
  for (let i = 0; i < times; i++) {
    const result = await new Promise<{ readonly outcome: string }>((resolve) => {
      probes.tcp.run(target, resolve)
    })
    expect(result.outcome).toBe('success')
  }
}

test('100 probes block the node, and later ones succeed all the same', async () => {
  expect(outer, 'an address that is not of loopback').toBeDefined()
  await probe(outer!, 101)
  expect(await greeting(outer!)).toContain('is blocked because of many connection errors')
  await probe(outer!, 1)
}, 60_000)

test('probes of loopback block nobody', async () => {
  await probe('127.0.0.1', 101)
  expect(await greeting('127.0.0.1')).toContain('MariaDB')
}, 60_000)

test('a greater max_connect_errors blocks nobody', async () => {
  await sql('SET GLOBAL max_connect_errors = 4294967295; FLUSH HOSTS')
  await probe(outer!, 101)
  expect(await greeting(outer!)).toContain('MariaDB')
}, 60_000)
