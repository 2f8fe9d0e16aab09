// A node whose clock stands before 1970, as after an empty battery: nothing of it ends.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawnWith } = useDaemons({ GSLB_API_KEY: 'a-system-key-of-the-tests-0123456789abcdef' })
let site: Site

beforeAll(async () => {
  site = await Site.make('clock', { auth: { bcryptCost: 10 } })
  site.trustNode()
  await site.push()
})
afterAll(() => site.remove())

/** Making a database takes seconds, and minutes on a machine that has others to run. */
const long = { timeout: 240_000 }

test('before 1970 a node answers queries, logs people in and takes changes', long, async () => {
  const early = join(site.path, 'early.mjs')
  writeFileSync(early, 'const now = Date.now\nDate.now = () => now() - 60 * 365 * 86_400_000\n')
  const daemon = spawnWith(early, 'serve', '--settings', site.settingsFile)
  await daemon.running()
  await waitUntil('the first bundle', async () =>
    (await daemon.answers('www.example.com. A')).join().includes('192.0.2.1'),
  )
  await daemon.hasDatabase()
  const body = { email: 'ann@example.com', password: 'correct horse' }
  expect((await callApi(daemon, 'POST', '/auth/setup', { body })).status).toBe(201)
  const login = await callApi<{ token: string }>(daemon, 'POST', '/auth/login', { body })
  const bearer = login.body.token
  expect((await callApi(daemon, 'GET', '/auth/me', { bearer })).status).toBe(200)
  const made = await callApi(daemon, 'POST', '/pools', { bearer, body: { name: 'new' } })
  expect([made.status, made.body.error]).toEqual([201, undefined])
  expect(daemon.log().filter(({ level }) => level === 'error')).toEqual([])
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})
