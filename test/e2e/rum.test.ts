// From a beacon's samples to the answer of a rum chain, on a whole daemon and in a real browser.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { useBrowser } from '#test/support/chromium.ts'
import { subnet } from '#test/support/geo-site.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { poolPath, servicePath, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const patienceMs = 120_000
const openPage = useBrowser(patienceMs)
const sites: Site[] = []
afterAll(() => {
  for (const site of sites) site.remove()
})

const members = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
const pool = `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  members:
${members
  .map((ip, i) => `    - { name: m${i}, ipAddress: ${ip}, port: 80, rumUrl: 'http://${ip}/ping' }`)
  .join('\n')}
`
const service = `apiVersion: gslb/v1
kind: Service
metadata: { name: www }
spec: { domain: www.example.com., ttl: 5, pool: web, filterChain: [rum] }
`

async function post(daemon: DaemonProcess, from: string, latencies: readonly number[]) {
  const sent = request({
    host: '127.0.0.1',
    port: daemon.apiPort,
    method: 'POST',
    path: '/api/v1/rum/ingest',
    headers: {
      'content-type': 'text/plain',
      origin: 'https://shop.example',
      'x-forwarded-for': from,
    },
  })
  const samples = latencies.map((latencyMs, i) => ({ ip: members[i], latencyMs }))
  sent.end(JSON.stringify({ domain: 'www.example.com', samples }))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, body: await json(answer) }
}

interface Past {
  readonly isCertain: boolean
  readonly notes: readonly string[]
  readonly mayAnswer: readonly string[]
}

async function whyOf(daemon: DaemonProcess, at: string, client: string): Promise<Past> {
  const answer = await fetch(`http://127.0.0.1:${daemon.apiPort}/api/v1/why`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'www.example.com.', subnet: `${client}/32`, at }),
  })
  expect([answer.status, at]).toEqual([200, at])
  return (await answer.json()) as Past
}

test('measurements of browsers affect only answers to their networks', async () => {
  const api = { trustedProxies: ['127.0.0.1'] }
  const site = await Site.make('rum', { api })
  sites.push(site)
  site.write(poolPath, pool)
  site.write(servicePath, service)
  await site.commit('rum')
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the bundle', () => daemon.logged('bundle activated') !== undefined)

  const config = await daemon.get('/api/v1/rum/config?domain=www.example.com')
  const { targets } = JSON.parse(config) as { targets: { ip: string; rumUrl: string }[] }
  expect(targets).toEqual(members.map((ip) => ({ ip, rumUrl: `http://${ip}/ping` })))

  /** What ten clients of a network are told: the same, once it has measured. */
  const told = async (network: string): Promise<string[]> => {
    const answers = new Set<string>()
    for (let i = 1; i <= 10; i++) {
      const opt = { options: [subnet(`${network}.${i}/32`)] }
      for (const answer of await daemon.answers('www.example.com. A', { opt })) answers.add(answer)
    }
    return [...answers]
  }
  const line = (ip: string): string => `www.example.com. 5 IN A ${ip}`

  expect(await post(daemon, '198.51.100.9', [30, 20, 40])).toEqual({
    status: 200,
    body: { accepted: 3, rejected: 0 },
  })
  expect(await told('198.51.100')).toEqual([line('192.0.2.2')])
  await post(daemon, '203.0.113.9', [30, 20, 10])
  expect(await told('203.0.113')).toEqual([line('192.0.2.3')])
  expect(await told('198.51.100')).toEqual([line('192.0.2.2')])
  // 20 and 200 make 74 on average: more than the 30 of another member.
  await post(daemon, '198.51.100.77', [30, 200])
  expect(await told('198.51.100')).toEqual([line('192.0.2.1')])

  // The journal does not keep measurements: no answer by them is called certain later.
  const past = await whyOf(daemon, new Date().toISOString(), '198.51.100.7')
  expect(past).toMatchObject({ isCertain: false, mayAnswer: members })
  expect(past.notes).toEqual([expect.stringContaining('what browsers had measured is not in')])

  expect(JSON.parse(await daemon.get('/api/v1/rum/status'))).toMatchObject({
    subnets: 2,
    measurements: 6,
    members: [{ subnets: 2 }, { subnets: 2 }, { subnets: 2 }],
  })
  await daemon.stop()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test(
  'a page in a browser measures its members, and its network gets the fastest one',
  async () => {
    const slow = await serve((_, response) => void setTimeout(() => response.end(), 300))
    const fast = await serve((_, response) => void response.end())
    const site = await Site.make('rum-browser')
    sites.push(site)
    const rumUrls = [slow, fast, slow]
    const urls = members.map((ip, i) => [`http://${ip}/ping`, `${rumUrls[i]}/ping`] as const)
    site.write(
      poolPath,
      urls.reduce((text, [from, to]) => text.replace(from, to), pool),
    )
    site.write(servicePath, service)
    await site.commit('rum')
    await site.push()
    const daemon = await start('serve', '--settings', site.settingsFile)
    await waitUntil('the bundle', () => daemon.logged('bundle activated') !== undefined)
    const node = `http://127.0.0.1:${daemon.apiPort}`
    const shop = await serve((_, response) => {
      const script = `async src="${node}/api/v1/rum.js" data-domain="www.example.com"`
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(`<!doctype html><script ${script}></script>`)
    })
    const { page } = await openPage()
    const reported = page.waitForRequest(`${node}/api/v1/rum/ingest`)
    await page.goto(shop)
    const { samples } = (await reported).postDataJSON() as { readonly samples: { ip: string }[] }
    expect(samples.map(({ ip }) => ip).toSorted()).toEqual(members)
    await waitUntil('the measurements', async () => {
      const status = await daemon.get('/api/v1/rum/status')
      return (JSON.parse(status) as { readonly measurements: number }).measurements === 3
    })
    expect(await daemon.answers('www.example.com. A')).toEqual([
      'www.example.com. 5 IN A 192.0.2.2',
    ])
    await daemon.stop()
  },
  patienceMs,
)
