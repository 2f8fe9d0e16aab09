// A PostgreSQL that goes away under a running node, and comes back.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const apiKey = 'ab'.repeat(32)
const { spawn } = useDaemons({ GSLB_API_KEY: apiKey })
let postgres: PostgresServer
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  postgres = await startPostgres()
  site = await Site.make('database', {
    database: { url: postgres.url },
    // A notice in the health that is not of the database.
    auth: { setupEndpoint: false },
  })
  site.trustNode()
  await site.push()
})
afterAll(async () => {
  await postgres.stop()
  site.remove()
})

interface Said {
  readonly status?: string
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
}

async function ask(path: string): Promise<Said & { readonly code: number }> {
  const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/${path}`)
  return { code: answer.status, ...((await answer.json()) as Said) }
}
const codes = ({ reasons }: Said): readonly string[] => reasons.map(({ code }) => code)
const errors = () =>
  daemon.log().filter(({ level, msg }) => level === 'error' && msg.includes('database is away'))
const healthIs = (status: string) =>
  waitUntil(`health to be ${status}`, async () => (await ask('health')).status === status)

test('a node that starts without its database is ready as soon as that is there', async () => {
  await postgres.kill()
  daemon = spawn('serve', '--settings', site.settingsFile)
  await daemon.running()
  await waitUntil('only the database to be missing', async () => {
    const { code, ...said } = await ask('ready')
    return code === 503 && codes(said).join() === 'database-away'
  })
  await postgres.start()
  await waitUntil('the node to be ready', async () => (await ask('ready')).code === 200)
  await healthIs('ok')
  expect((await ask('health')).reasons).toEqual([])
})

test('a lost database is an ERROR with the host, and degraded with its reason', async () => {
  await postgres.kill()
  // Nobody asks it anything: it is missed all the same.
  await healthIs('degraded')
  expect(codes(await ask('health'))).toEqual(['database-away'])
  expect(errors()).toEqual([
    expect.objectContaining({ setting: 'database.url', host: '127.0.0.1' }) as object,
  ])
  // Queries are answered: nobody has to take the node away.
  expect((await ask('ready')).code).toBe(200)
  expect(await daemon.answers('www.example.com. A')).toEqual(['www.example.com. 5 IN A 192.0.2.1'])

  await postgres.start()
  await healthIs('ok')
  const back = await waitUntil('the line', () => daemon.logged('the database is reached again'))
  expect(back).toMatchObject({ level: 'info', host: '127.0.0.1' })
  expect(errors()).toHaveLength(1)
  expect(daemon.output).not.toContain('secret-word')
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('TXT records stay in DNS while it is away, also after a restart', async () => {
  await postgres.start()
  daemon = spawn('serve', '--settings', site.settingsFile)
  await daemon.running()
  await healthIs('ok')
  const record = { name: '_acme-challenge.www.example.com.', value: 'kept', ttl: 60 }
  const url = `http://127.0.0.1:${daemon.apiPort}/api/v1/dns/txt-records`
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  const body = JSON.stringify(record)
  // The tables of a fresh database may still be made, which is 503 with Retry-After.
  await waitUntil('the record', async () => {
    return (await fetch(url, { method: 'POST', headers, body })).status === 201
  })
  const answered = [`${record.name} 60 IN TXT "kept"`]
  expect(await daemon.answers(`${record.name} TXT`)).toEqual(answered)
  await daemon.stop()
  await postgres.kill()
  daemon = spawn('serve', '--settings', site.settingsFile)
  await daemon.running()
  expect(await daemon.answers(`${record.name} TXT`)).toEqual(answered)
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})
