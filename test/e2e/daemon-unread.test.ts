// A node that serves and has not read its configuration, or cannot: it says so, and nothing else.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const systemKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: systemKey })
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  site = await Site.make('unread')
  site.trustNode()
})
afterAll(() => site.remove())

interface Body {
  readonly error: string
  readonly apiKey: string
}
const call = (method: string, path: string, bearer = systemKey, body?: object) =>
  callApi<Body>(daemon, method, path, { bearer, ...(body && { body }) })
const statusOf = async (path: string, bearer?: string): Promise<number> =>
  (await call('GET', path, bearer)).status
const serve = async (): Promise<void> => {
  daemon = await start('serve', '--settings', site.settingsFile)
  await daemon.hasDatabase()
}

test('the first start has nothing to read: it lists nothing, and writes', async () => {
  await serve()
  await waitUntil('the look at nothing', async () => (await statusOf('/pools')) === 200)
  expect(await call('GET', '/pools')).toMatchObject({ body: [] })
  const account = { email: 'ann@example.com', password: 'correct horse' }
  expect((await call('POST', '/auth/setup', '', account)).status).toBe(201)
  expect((await call('POST', '/pools', systemKey, { name: 'first' })).status).toBe(201)
})

test('without the repository that it serves from it names no object and no tenant', async () => {
  const tenant = await call('POST', '/tenants', systemKey, { name: 'acme' })
  expect(tenant.status).toBe(201)
  await daemon.stop()
  const origin = join(site.dataDir, 'config.git')
  const away = join(site.path, 'away.git')
  renameSync(origin, away)
  await serve()
  await waitUntil('why it is 503', async () => {
    return (await call('GET', '/pools')).headers['retry-after'] === '10'
  })
  const commit = (await site.run('git', '-C', away, 'rev-parse', 'main')).slice(0, 10)
  const { body } = await call('GET', '/pools')
  expect(body.error).toContain(`the configuration of commit ${commit} cannot be read (BranchMissi`)
  expect(body.error).toContain(`Push commit ${commit} to it again`)
  for (const path of ['/pools', '/tenants', '/dashboard/stats', '/tenants/acme/usage']) {
    expect([path, await statusOf(path)]).toEqual([path, 503])
  }
  expect(await statusOf('/pools', tenant.body.apiKey)).toBe(503)
  expect(await statusOf('/usage', tenant.body.apiKey)).toBe(503)
  expect(await statusOf('/pools', 'c'.repeat(64))).toBe(401)
  expect((await call('POST', '/pools', systemKey, { name: 'second' })).status).toBe(503)
  const wanted = ['/health', '/gitops/status', '/auth/config', '/license', '/users', '/usage']
  for (const path of wanted) expect([path, await statusOf(path)]).toEqual([path, 200])
  const account = { email: 'ann@example.com', password: 'correct horse' }
  expect((await call('POST', '/auth/login', '', account)).status).toBe(200)

  await site.run('git', '-C', away, 'push', '-q', origin, 'main')
  await waitUntil('the view', async () => (await statusOf('/pools')) === 200)
  expect(await call('GET', '/pools')).toMatchObject({ body: [{ name: 'first' }] })
  expect(await statusOf('/usage', tenant.body.apiKey)).toBe(200)
})

test('after trust reset with a head that is held it is not empty, but unread', async () => {
  await daemon.stop()
  const { exit } = await runCli('trust', 'reset', '--data-dir', site.dataDir)
  expect(exit).toBe(0)
  const signers = join(site.dataDir, 'allowed_signers')
  const before = readFileSync(signers, 'utf8')
  writeFileSync(signers, before.replace(/^.*node@gslbd.*\n/m, ''))
  await serve()
  await waitUntil('the hold', async () => {
    return (await call('GET', '/pools')).headers['retry-after'] === '10'
  })
  expect(await call('GET', '/gitops/status')).toMatchObject({
    body: { sync: 'held', accepted: null },
  })
  for (const path of ['/pools', '/services', '/pools/0', '/ready']) {
    expect([path, await statusOf(path)]).toEqual([path, 503])
  }
  expect((await call('POST', '/pools', systemKey, { name: 'second' })).status).toBe(503)

  writeFileSync(signers, before)
  await waitUntil('the view', async () => (await statusOf('/pools')) === 200)
  expect(await call('GET', '/pools')).toMatchObject({ body: [{ name: 'first' }] })
  expect(await statusOf('/ready')).toBe(200)
})
