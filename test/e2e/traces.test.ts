// Traces of writes as a collector gets them: from the request over the control node to a node of
// the role dns; of pushes; and what a collector that hangs does to writes.
import { createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import { attributesOf, otlpFaults, spansIn } from '#test/support/otlp-checks.ts'
import type { SeenSpan } from '#test/support/otlp-checks.ts'
import { poolPath, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const bundleToken = 'cd'.repeat(16)
const secret = 'a-secret-of-the-collector'
const environment = { GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN: bundleToken }
const { start } = useDaemons({ ...environment, GSLB_OTLP_HEADERS: `x-token=${secret}` })
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken })

async function controlWith(url: string, roles: readonly string[]): Promise<[Site, DaemonProcess]> {
  const site = await Site.make('traces', { telemetry: { otlp: { url, timeout: '1s' } }, roles })
  onTestFinished(() => site.remove())
  site.trustNode()
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the configuration', async () => {
    return (await callApi(daemon, 'GET', '/pools', { bearer })).status === 200
  })
  return [site, daemon]
}

async function followerOf(site: Site, control: DaemonProcess): Promise<DaemonProcess> {
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(site.path, 'control.pem'), publicPem)
  const settings = join(site.path, 'far.yaml')
  const urls = [`http://127.0.0.1:${control.apiPort}`]
  const bundle = { urls, keys: './control.pem', poll: '100ms' }
  const more = { dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 }, api: { enabled: false } }
  const named = { dataDir: './far', roles: ['dns'], state: { nodeName: 'far-1' } }
  writeFileSync(settings, JSON.stringify({ ...named, ...more, bundle }))
  const node = await nodes.start('serve', '--settings', settings)
  await waitUntil('the node in the list', async () => {
    const reply = await callApi<object>(control, 'GET', '/cluster/nodes', { bearer })
    return JSON.stringify(reply.body).includes('far-1')
  })
  return node
}

const write = (control: DaemonProcess, name: string, headers = {}) =>
  callApi<{ id: string }>(control, 'POST', '/pools', { bearer, body: { name }, headers })

type Collector = Awaited<ReturnType<typeof startStandIn>>
const spansOf = ({ asked }: Collector, commit: string): readonly SeenSpan[] =>
  asked
    .flatMap(({ body }) => spansIn(body))
    .filter(({ traceId }) => traceId === commit.slice(0, 32))
const rootOf = (collector: Collector, commit: string): SeenSpan | undefined =>
  spansOf(collector, commit).find(({ parentSpanId }) => !parentSpanId)

test('a write is one trace, up to the activation on a node that pulls', async () => {
  const collector = await startStandIn(() => ({ status: 200, body: {} }))
  const [site, control] = await controlWith(collector.url, ['control'])
  const node = await followerOf(site, control)
  const client = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const traceparent = `00-${client.traceId}-${client.spanId}-01`
  const made = await write(control, 'hidden-name', { traceparent })
  expect(made.status).toBe(201)
  const commit = String(made.headers['x-gslb-revision'])

  await waitUntil('the whole trace', async () => rootOf(collector, commit) !== undefined)
  const told = spansOf(collector, commit)
  const root = rootOf(collector, commit)!
  expect(collector.asked.flatMap(({ body }) => otlpFaults(body))).toEqual([])
  expect(told.map(({ name }) => name).sort()).toEqual([
    ...['POST /api/v1/pools', 'activate', 'activate', 'commit', 'compile', 'judge'],
    ...['prepare', 'publish', 'wait', 'write'],
  ])
  const byName = (name: string) => told.filter((one) => one.name === name)
  const [request] = byName('POST /api/v1/pools')
  expect(request?.links).toEqual([client])
  expect(attributesOf(request!)).toMatchObject({
    'http.route': '/api/v1/pools',
    'http.response.status_code': '201',
    'gslbd.request.id': made.headers['x-request-id'],
  })
  const names = byName('activate').map((one) => attributesOf(one)['gslbd.node.name'])
  expect(names).toContain('far-1')
  expect(attributesOf(root)).toEqual({ 'gslbd.commit': commit, 'gslbd.nodes': '2' })
  for (const { startTimeUnixNano, endTimeUnixNano } of told) {
    expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano))
    expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano))
  }

  // No secret, and no name of an object, is told.
  const all = JSON.stringify(collector.asked.map(({ body }) => body))
  for (const word of [bearer, bundleToken, secret, 'hidden-name']) expect(all).not.toContain(word)
  expect(collector.asked.every(({ headers }) => headers['x-token'] === secret)).toBe(true)
  const scraped = await fetch(`http://127.0.0.1:${control.apiPort}/metrics`, {
    headers: { accept: 'application/openmetrics-text', authorization: `Bearer ${bearer}` },
  })
  expect(scraped.headers.get('content-type')).toContain('application/openmetrics-text')
  expect(await scraped.text()).toContain(`# {trace_id="${commit.slice(0, 32)}"}`)
  expect(node.output).not.toContain(secret)
})

test('a pushed commit is a trace from the look that finds it; a held one says why', async () => {
  const collector = await startStandIn(() => ({ status: 200, body: {} }))
  const [site, control] = await controlWith(collector.url, ['control'])
  await followerOf(site, control)
  const good = await site.publish('192.0.2.2')
  await waitUntil('the whole trace', async () => rootOf(collector, good) !== undefined)
  const told = spansOf(collector, good).map(({ name }) => name)
  expect(told.sort()).toEqual([
    ...['activate', 'activate', 'compile', 'descend', 'enumerate', 'fetch', 'follow', 'guard'],
    ...['publish', 'sign', 'verify'],
  ])
  const root = rootOf(collector, good)!
  expect(attributesOf(root)).toMatchObject({ 'gslbd.commit': good, 'gslbd.nodes': '2' })
  expect(root.status).toEqual({})

  site.write(poolPath, 'broken')
  const bad = await site.commit('a mistake')
  await site.push()
  await waitUntil('the trace of what is held', async () => rootOf(collector, bad) !== undefined)
  expect(rootOf(collector, bad)?.status).toEqual({ code: 2, message: 'CompileFailed' })
  expect(spansOf(collector, bad).map(({ name }) => name)).not.toContain('activate')
})

test('a collector that hangs delays no write and no stop', async () => {
  const collector = await startStandIn(() => 'hang')
  const [, control] = await controlWith(collector.url, ['control'])
  for (let i = 0; i < 5; i++) expect((await write(control, `p${i}`)).status).toBe(201)
  await waitUntil('a request', async () => collector.asked.length > 0)
  const sinceMs = performance.now()
  expect((await write(control, 'last')).status).toBe(201)
  await control.stop()
  expect(performance.now() - sinceMs).toBeLessThan(10_000)
})
