// A write that the node cannot carry out: the operator gets the reason, others a request id.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const systemKey = 'a-system-key-of-the-tests-0123456789abcdef'
const { start } = useDaemons({ GSLB_API_KEY: systemKey })
let site: Site

beforeAll(async () => {
  // Nobody trusts the key of the node.
  site = await Site.make('refused-write', { auth: { bcryptCost: 10 } })
  await site.push()
})
afterAll(() => site.remove())

test('a tenant sees no paths, keys and commands of the operator, whose log has them', async () => {
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () =>
    (await daemon.answers('www.example.com. A')).join().includes('192.0.2.1'),
  )
  const account = { email: 'bob@example.com', password: 'correct horse' }
  const user = { ...account, role: 'operator' }
  const made = await callApi(daemon, 'POST', '/users', { bearer: systemKey, body: user })
  expect(made.status).toBe(201)
  const login = await callApi<{ token: string }>(daemon, 'POST', '/auth/login', { body: account })

  const body = { name: 'new' }
  const operator = await callApi(daemon, 'POST', '/pools', { bearer: systemKey, body })
  expect([operator.status, operator.body.error]).toEqual([
    409,
    expect.stringMatching(/SHA256:.*allowed_signers.*gslbd trust add/),
  ])
  const tenant = await callApi(daemon, 'POST', '/pools', { bearer: login.body.token, body })
  const requestId = String(tenant.headers['x-request-id'])
  expect(tenant.status).toBe(409)
  expect(tenant.body.error).toContain(`nothing was changed. Tell an administrator of the system`)
  expect(tenant.body.error).toContain(requestId)
  expect(tenant.body.error).not.toMatch(/SHA256|allowed_signers|gslbd|\//)
  const line = daemon.log().find((one) => one['requestId'] === requestId && one.level === 'error')
  expect(line).toMatchObject({ reason: operator.body.error, code: 'not-trusted' })
})
