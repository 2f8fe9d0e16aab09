// A node that starts with the wrong GSLB_SECRET_KEY while PostgreSQL is away: nobody could look.
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const systemKey = 'ab'.repeat(32)
const keys = { right: 'cd'.repeat(32), wrong: 'ef'.repeat(32) } as const
/** Read at each start. */
const env: Record<string, string> = { GSLB_API_KEY: systemKey }
const { start } = useDaemons(env)
let postgres: PostgresServer
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  postgres = await startPostgres()
  site = await Site.make('secret-key', { database: { url: postgres.url } })
  await site.push()
})
afterAll(async () => {
  await postgres.stop()
  site.remove()
})

async function serve(key: keyof typeof keys): Promise<void> {
  env['GSLB_SECRET_KEY'] = keys[key]
  daemon = await start('serve', '--settings', site.settingsFile)
}

interface Body {
  readonly error: string
  readonly token: string
  readonly secret: string
}
const post = (path: string, body: object, bearer = '') =>
  callApi<Body>(daemon, 'POST', path, { bearer, body })

const ann = { email: 'ann@example.com', password: 'correct horse' }
const bob = { email: 'bob@example.com', password: 'another horse' }

test('the log and the answers say so as soon as the database is back', async () => {
  await serve('right')
  await daemon.hasDatabase()
  expect((await post('/auth/setup', ann)).status).toBe(201)
  expect((await post('/users', { ...bob, role: 'viewer' }, systemKey)).status).toBe(201)
  const { token } = (await post('/auth/login', ann)).body
  const { secret } = (await post('/auth/totp/setup', {}, token)).body
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  const verified = await post('/auth/totp/verify', { code: app.generate() }, token)
  expect(verified.status).toBe(200)
  await daemon.stop()

  await postgres.kill()
  await serve('wrong')
  expect((await post('/auth/login', bob)).status).toBe(503)
  await postgres.start()
  const told = 'GSLB_SECRET_KEY is not the key under which the TOTP secrets are stored; set it to'
  // Nobody asks for anything meanwhile.
  const line = await waitUntil('the error', () => daemon.logged(told) ?? false)
  expect(line).toMatchObject({
    level: 'error',
    msg: expect.stringContaining('and start the node again: until then nobody who') as string,
  })
  const error = expect.stringContaining('GSLB_SECRET_KEY is not the') as string
  // The code of the enrolment is used up; the next one is of the next half minute.
  const logIn = () => {
    const totpCode = app.generate({ timestamp: Date.now() + 30_000 })
    return post('/auth/login', { ...ann, totpCode })
  }
  const refused = await logIn()
  expect(refused).toMatchObject({ status: 500, body: { error } })
  const session = await post('/auth/login', bob)
  expect(session.status).toBe(200)
  const setup = await post('/auth/totp/setup', {}, session.body.token)
  expect(setup).toMatchObject({ status: 500, body: { error } })
  expect(daemon.output).not.toContain(keys.wrong)
  await daemon.stop()

  await postgres.kill()
  await serve('right')
  await postgres.start()
  const entered = await waitUntil('the login', async () => {
    const answer = await logIn()
    return answer.status === 200 && answer
  })
  expect(entered.body.token).toMatch(/^[\w-]{43}$/)
  expect(daemon.logged('GSLB_SECRET_KEY')).toBeUndefined()
})
