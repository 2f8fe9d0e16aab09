// A node as its operator runs it: a pool without members is told to a channel, and its end.
import { createHmac } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { startReceiver } from '#test/support/receivers.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons({ GSLB_SECRET_KEY: '7'.repeat(64) })
const sites: Site[] = []
afterAll(() => {
  for (const site of sites) site.remove()
})

interface Made {
  readonly id: string
  readonly secret: string
}

test('a pool that nobody of may answer is told once, signed, and its end', async () => {
  const receiver = await startReceiver()
  const site = await Site.make('alerting', {
    gitops: { requireSignature: false },
    alerts: { allowedHosts: ['127.0.0.1'], groupWait: '0' },
  })
  sites.push(site)
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the configuration', async () => {
    return (await callApi(daemon, 'GET', '/pools')).status === 200
  })
  const make = async (path: string, body: object): Promise<Made> => {
    const made = await callApi<Made>(daemon, 'POST', path, { body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }
  const settings = { url: receiver.url }
  const conditions = ['pool-without-members']
  const { secret } = await make('/alerts', { name: 'ops', kind: 'webhook', settings, conditions })
  const pool = await make('/pools', { name: 'empty' })
  await make('/services', { name: 'shop', domain: 'shop.example.com.', poolId: pool.id })
  await waitUntil('the alert', () => receiver.posts.length === 1)
  const [{ headers, body }] = receiver.posts as [(typeof receiver.posts)[0]]
  const signed = `${String(headers['x-gslb-timestamp'])}.${body}`
  const digest = createHmac('sha256', secret).update(signed).digest('hex')
  expect(headers['x-gslb-signature']).toBe(`v1=${digest}`)
  const told = { event: 'opened', subject: pool.id, tenantId: 'default' }
  expect(JSON.parse(body)).toMatchObject({ alerts: [told] })
  const open = await callApi<readonly object[]>(daemon, 'GET', '/alerts/events?state=open')
  expect(open.body).toMatchObject([{ condition: 'pool-without-members', state: 'open' }])
  await make(`/pools/${pool.id}/members`, { ipAddress: '192.0.2.7', port: 443 })
  await waitUntil('its end', () => receiver.posts.length === 2)
  expect(JSON.parse(receiver.posts[1]!.body)).toMatchObject({ alerts: [{ event: 'resolved' }] })
  expect(daemon.output).not.toContain(secret)
  await daemon.stop()
  await receiver.stop()
})
