// Alert channels, silences and alerts over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, openSettings } from '#alerts/send-by-channel.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { operatorId } from '#state/ports/alerts.ts'
import { newAlert } from '#test/support/alerts.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { withKeys } from '#test/support/api-world.ts'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import { startReceiver } from '#test/support/receivers.ts'
import type { HttpReceiver } from '#test/support/receivers.ts'
import { valueOf } from '#test/support/store-values.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

const key = withKeys.secretKey!
const acme = keyOf('acme')
const zenith = keyOf('zenith')
let whole: WholeWorld
let receiver: HttpReceiver
beforeAll(async () => {
  receiver = await startReceiver()
  const way = { lookUp: async () => [], allowed: networksOf(['127.0.0.1']) }
  whole = await startWholeWorld({
    testAlert: createSender({ secretKey: key, way, log: silentLog }),
  })
})
afterAll(async () => {
  await whole.stop()
  await receiver.stop()
})

const call: WholeWorld['world']['call'] = (...args) => whole.world.call(...args)
const store = () => whole.world.ports.alerts
let count = 0
const webhook = (more: object = {}) => ({
  ...{ name: `hook ${++count}`, kind: 'webhook' },
  ...{ settings: { url: 'https://hooks.example.net/services/T0KEN', secret: 'k'.repeat(20) } },
  ...more,
})
const mail = (more: object = {}) => ({
  ...{ host: 'mail.example.net', from: 'a@example.net', to: ['b@example.net'] },
  ...{ username: 'u', password: 'passw0rd-x' },
  ...more,
})
const secretsOf = async (id: string) =>
  openSettings((await valueOf(store().findChannel('every-tenant', id)))!, key)

describe('a channel', () => {
  test('is shown with settings of its own kind alone, which may be sent back', async () => {
    const made = await call(acme, 'POST', '/alerts', webhook())
    const read = await call(acme, 'GET', `/alerts/${made.body.id}`)
    for (const { body } of [made, read]) expect(JSON.stringify(body)).toContain('"settings":{}')
  })

  test('is shown without its secrets, which are kept sealed', async () => {
    const made = await call(acme, 'POST', '/alerts', webhook({ name: 'ops' }))
    expect(made.status).toBe(201)
    const { id } = made.body
    const read = await call(acme, 'GET', `/alerts/${id}`)
    expect(read.body).toMatchObject({
      ...{ tenantId: 'acme', scope: 'tenant', name: 'ops', target: 'https://hooks.example.net' },
      ...{ settings: {}, secrets: ['secret', 'url'], conditions: [], minSeverity: 'info' },
      ...{ enabled: true, lastSentAt: null, failures: 0, queued: 0, dropped: 0 },
    })
    const listed = await call(acme, 'GET', '/alerts')
    for (const { text } of [made, read, listed]) expect(text).not.toMatch(/T0KEN|kkkk/)
    const stored = await valueOf(store().findChannel('every-tenant', id))
    expect(JSON.stringify(stored)).not.toMatch(/T0KEN|kkkk/)
    expect(await secretsOf(id)).toEqual(webhook().settings)
  })

  test('gets a secret of its own where none is given, which is shown once', async () => {
    const settings = { url: 'https://hooks.example.net/x' }
    const made = await call(acme, 'POST', '/alerts', webhook({ settings }))
    const { id, secret } = made.body as unknown as { id: string; secret: string }
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect((await secretsOf(id))?.['secret']).toBe(secret)
    expect((await call(acme, 'GET', `/alerts/${id}`)).body).not.toHaveProperty('secret')
  })

  test('for PagerDuty does not take its key along to another address', async () => {
    const settings = { routingKey: 'R0UTE', url: 'https://events.example.net/v2/enqueue' }
    const made = await call(acme, 'POST', '/alerts', { name: 'pd', kind: 'pagerduty', settings })
    const moved = { url: 'https://evil.example/' }
    const answer = await call(acme, 'PUT', `/alerts/${made.body.id}`, { settings: moved })
    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body.error).toMatch(/^settings\.routingKey: write it again/)
  })

  test('keeps what is left out, and its secrets where they stay where they are', async () => {
    const made = await call(acme, 'POST', '/alerts', {
      ...{ name: 'mail', kind: 'email', settings: mail() },
    })
    const { id } = made.body
    const path = `/alerts/${id}`
    expect(made.body).toMatchObject({ target: 'mail.example.net:587', secrets: ['password'] })
    const { password: _, ...open } = mail()
    const changed = await call(acme, 'PUT', path, { settings: { ...open, to: ['c@example.net'] } })
    expect(changed.status).toBe(200)
    expect(await secretsOf(id)).toMatchObject({ password: 'passw0rd-x', to: ['c@example.net'] })
    // Somebody who does not know the password points the channel at a server of their own.
    const places = [
      { host: 'evil.example' },
      { port: 2_525 },
      { username: 'v' },
      { security: 'tls' },
    ]
    for (const stolen of places) {
      const answer = await call(acme, 'PUT', path, { settings: { ...open, ...stolen } })
      expect(answer).toMatchObject({ status: 400 })
      expect(answer.body.error).toMatch(/^settings\.password: write it again/)
    }
    const moved = await call(acme, 'PUT', path, { settings: mail({ host: 'other.example' }) })
    expect(moved.body).toMatchObject({ target: 'other.example:587' })
    const renamed = await call(acme, 'PUT', path, { name: 'post', minSeverity: 'error' })
    expect(renamed.body).toMatchObject({
      name: 'post',
      minSeverity: 'error',
      secrets: ['password'],
    })
    const bare = { host: 'other.example', from: 'a@example.net', to: ['b@example.net'] }
    expect((await call(acme, 'PUT', path, { settings: bare })).body).toMatchObject({ secrets: [] })
  })

  test.each([
    ['url', 'webhook', {}, 'is required for a channel of kind webhook'],
    ['host', 'webhook', { url: 'https://a.example', host: 'x' }, 'has no such setting'],
    ['url', 'slack', { url: 'ftp://a.example' }, 'must be an https:// address'],
    ['url', 'webhook', { url: 'https://u:p@a.example' }, 'without a user name'],
    ['routingKey', 'pagerduty', {}, 'is required'],
    ['password', 'email', { ...mail(), password: undefined }, 'is missing'],
    ['security', 'email', mail({ security: 'none' }), 'must not be none'],
    ['to.0', 'email', mail({ to: ['a@b.example\r\nBcc: c@d.example'] }), 'e-mail address'],
  ])('with a wrong settings.%s of a %s is refused', async (field, kind, settings, reason) => {
    const answer = await call(acme, 'POST', '/alerts', { name: 'wrong', kind, settings })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(`settings.${field}: `)
    expect(answer.body.error).toContain(reason)
  })

  test.each([
    [
      'x'.repeat(101),
      'name: must be one line of 1 to 100 characters, not of blanks alone, not this text of 101 characters',
    ],
    [
      'a\nb',
      'name: must be one line of 1 to 100 characters, not of blanks alone, not this text of 3 characters',
    ],
    ['', 'name: must not be empty'],
  ])('with a wrong name is refused with the right ones (%#)', async (name, error) => {
    const answer = await call(acme, 'POST', '/alerts', { ...webhook(), name })
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })

  test('is 409 with a taken name, and when there are too many', async () => {
    const body = webhook()
    expect((await call(zenith, 'POST', '/alerts', body)).status).toBe(201)
    const again = await call(zenith, 'POST', '/alerts', body)
    expect(again).toMatchObject({ status: 409, body: { error: 'name: another channel has it' } })
    for (let i = 1; i < 20; i++) await call(zenith, 'POST', '/alerts', webhook())
    const more = await call(zenith, 'POST', '/alerts', webhook())
    expect(more).toMatchObject({ status: 409 })
    expect(more.body.error).toContain('at most 20 channels')
  })

  test('without GSLB_SECRET_KEY cannot be made', async () => {
    const { auth } = whole.world.ports
    const ports = whole.world.ports as { auth: typeof auth }
    ports.auth = { ...auth, secretKey: null }
    const answer = await call(acme, 'POST', '/alerts', webhook())
    ports.auth = auth
    expect(answer.status).toBe(503)
    expect(answer.body.error).toContain('GSLB_SECRET_KEY')
  })
})

describe('the operator', () => {
  test('has channels that no tenant sees or makes', async () => {
    const refused = await call(acme, 'POST', '/alerts', webhook({ scope: 'platform' }))
    expect(refused).toMatchObject({
      status: 403,
      body: {
        error: expect.stringMatching(
          /^admin access required: only a system administrator /,
        ) as string,
      },
    })
    const { body } = await call(rootKey, 'POST', '/alerts', webhook({ scope: 'platform' }))
    expect(body).toMatchObject({ tenantId: null, scope: 'platform' })
    for (const by of [acme, zenith]) {
      expect((await call(by, 'GET', `/alerts/${body.id}`)).status).toBe(404)
      const ids = (await call(by, 'GET', '/alerts')).list.map(({ id }) => id)
      expect(ids).not.toContain(body.id)
    }
    expect((await call(rootKey, 'GET', '/alerts')).list.map(({ id }) => id)).toContain(body.id)
  })

  test('sees the alerts of all, a tenant its own', async () => {
    const lease = await valueOf(whole.state.alerts.takeLease(null, 'n1/1'))
    const alerts = [
      newAlert('x1'),
      newAlert('x2', { tenantId: 'zenith' }),
      newAlert('x3', { tenantId: operatorId, node: 'n1' }),
    ]
    const opened = alerts.map((alert) => ({ alert, channels: [] }))
    const changes = { opened, updated: [], resolved: [], nowMs: 1, readyAtMs: 1 }
    await valueOf(whole.state.alerts.record(lease!.term, changes))
    const seen = async (by: string, query = '') =>
      (await call(by, 'GET', `/alerts/events${query}`)).list.map(({ id }) => id)
    expect(await seen(acme)).toEqual(['x1'])
    expect(await seen(zenith, '?state=open')).toEqual(['x2'])
    expect(await seen(rootKey)).toEqual(['x3', 'x2', 'x1'])
    expect(await seen(rootKey, '?limit=1&before=x3')).toEqual(['x2'])
    expect(await seen(rootKey, '?state=resolved')).toEqual([])
    const [operators] = (await call(rootKey, 'GET', '/alerts/events?limit=1')).list
    expect(operators).toMatchObject({ tenantId: null, node: 'n1', state: 'open', resolvedAt: null })
  })
})

describe('a silence', () => {
  test('is listed while it holds', async () => {
    const body = { seconds: 60, condition: 'disk', reason: 'a move' }
    const made = await call(acme, 'POST', '/alerts/silences', body)
    expect(made).toMatchObject({ status: 201, body: { condition: 'disk', subject: null } })
    const { createdAt, until } = made.body as unknown as { createdAt: number; until: number }
    expect(until - createdAt).toBe(60)
    expect((await call(acme, 'GET', '/alerts/silences')).list).toEqual([made.body])
    expect((await call(acme, 'DELETE', `/alerts/silences/${made.body.id}`)).status).toBe(204)
    expect((await call(acme, 'GET', '/alerts/silences')).list).toEqual([])
    const operators = await call(acme, 'POST', '/alerts/silences', { ...body, scope: 'platform' })
    expect(operators.status).toBe(403)
  })

  test('of a pool takes its name, where the caller may see the pool', async () => {
    const pool = await call(acme, 'POST', '/pools', { name: 'quiet' })
    expect(pool.status).toBe(201)
    const subjects = []
    for (const key of [acme, zenith]) {
      const { body } = await call(key, 'POST', '/alerts/silences', { seconds: 9, subject: 'quiet' })
      subjects.push((body as unknown as { readonly subject: string }).subject)
    }
    expect(subjects).toEqual([pool.body.id, 'quiet'])
    // Such an alert is about no pool: a node may have the name of one.
    const ofNode = { seconds: 9, condition: 'node-missing', subject: 'quiet' }
    const { body } = await call(acme, 'POST', '/alerts/silences', ofNode)
    expect(body).toMatchObject({ subject: 'quiet' })
  })
})

describe('a test', () => {
  test('is sent at once and says how it went, a few times in a row', async () => {
    const settings = { url: `${receiver.url}/ok`, secret: 'x'.repeat(16) }
    const { body } = await call(acme, 'POST', '/alerts', webhook({ settings }))
    const sent = await call(acme, 'POST', `/alerts/${body.id}/test`)
    expect(sent).toMatchObject({ status: 200, body: { delivered: true, error: '' } })
    expect(JSON.parse(receiver.posts[0]!.body)).toMatchObject({ test: true })
    const inside = { url: 'http://10.0.0.1/', secret: 'x'.repeat(16) }
    await call(acme, 'PUT', `/alerts/${body.id}`, { settings: inside })
    const refused = await call(acme, 'POST', `/alerts/${body.id}/test`)
    expect(refused.body).toMatchObject({ delivered: false })
    expect(refused.body.error).toContain('alerts.allowedHosts')
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      statuses.push((await call(acme, 'POST', `/alerts/${body.id}/test`)).status)
    }
    expect(statuses).toContain(429)
  })
})

test('channels of a deleted tenant are turned off, and no new tenant gets them', async () => {
  const made = await call(rootKey, 'POST', '/tenants', { name: 'short-lived' })
  const { tenant, apiKey } = JSON.parse(made.text) as { tenant: { id: string }; apiKey: string }
  const channel = await call(apiKey, 'POST', '/alerts', webhook())
  expect(channel.status).toBe(201)
  expect((await call(rootKey, 'DELETE', `/tenants/${tenant.id}`)).status).toBe(204)
  const left = await call(rootKey, 'GET', `/alerts/${channel.body.id}`)
  expect(left.body).toMatchObject({ enabled: false })
  const again = await call(rootKey, 'POST', '/tenants', { name: 'short-lived' })
  expect(again).toMatchObject({ status: 409 })
  expect(again.body.error).toContain('alert channels (1)')
})
