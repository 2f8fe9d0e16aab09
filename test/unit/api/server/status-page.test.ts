// The public status page: chosen names, static HTML, cacheable, nothing else of the configuration.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { serveStatusPage } from '#api/server/status-page.ts'
import { unprobed } from '#ports/member-health.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import { keyOf, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const down = new Set<string>()
/** Members that nobody probes. */
const silent = new Set<string>()
const memberHealth: MemberHealthView = {
  node: 'n1',
  of: ({ ipAddress }) => ({
    ...unprobed('n1', !down.has(ipAddress)),
    isProbed: !silent.has(ipAddress),
  }),
  onChange: () => () => undefined,
}
let world: ConfigWorld
let nowMs = 1_700_000_000_000
beforeAll(async () => {
  world = await startConfigWorld({ ports: { memberHealth } })
  const { id } = (await world.call(acme, 'POST', '/pools', { name: 'secret-pool' })).body
  for (const ipAddress of ['192.0.2.1', '192.0.2.2']) {
    await world.call(acme, 'POST', `/pools/${id}/members`, { ipAddress, port: 80 })
  }
  const service = { name: 'www', domain: 'www.example.com.', poolId: id }
  await world.call(acme, 'POST', '/services', service)
})
afterAll(() => world.close())

function pageOf(names: readonly string[], title = 'Acme') {
  const ports = { ...world.ports, clock: { ...world.ports.clock, nowMs: () => nowMs } }
  const app = createApp(ports, [])
  serveStatusPage(app, ports, { names, title })
  return (path = '/status/', headers = {}) => app.inject({ url: path, headers })
}

const unsafe = '</title><script>alert(1)</script>'

test.each([
  ['all members up', [], 'Operational', 'All is well'],
  ['one of two down', ['192.0.2.1'], 'Degraded', 'Some is degraded'],
  ['all down', ['192.0.2.1', '192.0.2.2'], 'Down', 'Something is down'],
] as const)('%s', async (_case, addresses, word, summary) => {
  down.clear()
  for (const address of addresses) down.add(address)
  const { statusCode, body, headers } = await pageOf(['WWW.example.com'])()
  expect(statusCode).toBe(200)
  expect(body).toContain(`<span>WWW.example.com</span><strong class=`)
  expect(body).toContain(`>${word}<`)
  expect(body).toContain(`<title>Acme: ${summary}</title>`)
  expect(headers['cache-control']).toBe('public, max-age=15')
  expect(body).not.toMatch(/192\.0\.2|secret-pool|acme|<script/)
})

test('a name that has no service is not known', async () => {
  down.clear()
  expect((await pageOf(['nowhere.example.com'])()).body).toContain('Not known')
})

test('a name whose members nobody probes is not known to be up', async () => {
  down.clear()
  silent.add('192.0.2.1').add('192.0.2.2')
  const { body } = await pageOf(['www.example.com'])()
  silent.clear()
  expect(body).toContain('Not known')
  expect(body).not.toContain('Operational')
})

test('the page is made once in fifteen seconds, and sent once to each client', async () => {
  down.clear()
  const ask = pageOf(['www.example.com'])
  const first = await ask()
  down.add('192.0.2.1')
  nowMs += 14_000
  const again = await ask('/status/', { 'if-none-match': first.headers.etag })
  expect(again.statusCode).toBe(304)
  expect(again.body).toBe('')
  nowMs += 2_000
  expect((await ask()).body).toContain('Degraded')
})

test('the title is text, and no page may load or frame anything', async () => {
  const { body, headers } = await pageOf(['www.example.com'], unsafe)()
  expect(body).not.toContain('<script')
  expect(body).toContain('&lt;script&gt;')
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'$/,
  )
  expect(headers['x-frame-options']).toBe('DENY')
})

test('without names there is no page', async () => {
  expect((await pageOf([])()).statusCode).toBe(404)
  expect((await pageOf([])('/status')).statusCode).toBe(404)
})
