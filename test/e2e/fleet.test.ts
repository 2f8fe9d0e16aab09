// A node of the role control alone and one of the role dns, two processes: what one accepts, the
// other answers.
import { createPublicKey } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signChannelRecord, signingKeyFromPem } from '#bundle/signature/channel.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { exchangeUdp } from '#test/support/dns/client.ts'
import { decodeMessage } from '#test/support/dns/message.ts'
import { updateMessage } from '#test/support/dns/signed.ts'
import { openSource } from '#test/support/bundle-source.ts'
import type { BundleSource } from '#test/support/bundle-source.ts'
import { listeningPorts } from '#test/support/listening-ports.ts'
import { openNamedPipe } from '#test/support/named-pipe.ts'
import type { NamedPipe } from '#test/support/named-pipe.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bearer = 'ab'.repeat(32)
const bundleToken = 'cd'.repeat(16)
const directory = makeTempDir('fleet')
const modules = join(directory, 'modules')
const ofControl = join(directory, 'control-modules')
/** Both from their sources: a built program has no names of files. */
const program = join(import.meta.dirname, '../../cli/main.ts')
const preload = join(import.meta.dirname, '../support/list-modules.ts')
const controls = useDaemons(
  { GSLB_API_KEY: bearer, GSLB_BUNDLE_TOKEN: bundleToken, LOADED_MODULES: ofControl },
  program,
)
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken, LOADED_MODULES: modules }, program)
let site: Site
let control: DaemonProcess
let node: DaemonProcess
let mirror: BundleSource

const settingsFile = join(directory, 'gslbd.yaml')
/** What it would tell an ExaBGP. */
const commands = join(directory, 'commands')
let pipe: NamedPipe
/** Nobody has made its directory. */
const queryLog = { file: join(directory, 'queries', 'log') }
const writeSettings = (urls: readonly string[], more = {}): void =>
  writeFileSync(
    settingsFile,
    JSON.stringify({
      dataDir: './data',
      roles: ['dns'],
      state: { nodeName: 'far-1' },
      node: { labels: { site: 'far' } },
      dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
      api: { enabled: true, port: 0 },
      bundle: { urls, keys: './control.pem', poll: '100ms' },
      ...more,
      anycast: {
        ...{ driver: 'exabgp', addresses: ['127.0.0.1'], exabgp: { pipe: commands } },
        ...{ interval: '100ms', rise: 1, drain: '100ms' },
      },
    }),
  )

const urls = () => [`http://127.0.0.1:${control.apiPort}`, mirror.url]

beforeAll(async () => {
  site = await Site.make('fleet')
  site.trustNode()
  await site.push()
  const asControl = ['serve', '--role', 'control', '--settings', site.settingsFile]
  control = controls.spawnWith(preload, ...asControl)
  await control.running()
  await waitUntil('the first commit', async () => (await control.health()) === 'ok')
  mirror = await openSource()
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  writeSettings(urls())
  pipe = openNamedPipe(commands)
  node = nodes.spawnWith(preload, 'serve', '--settings', settingsFile)
  await node.running()
})
afterAll(async () => {
  await controls.killAll()
  await nodes.killAll()
  pipe.close()
  await mirror.close()
  site.remove()
  removeTempDir(directory)
})

const served = async (name: string): Promise<string> =>
  (await node.answers(`${name}.example.com. A`)).join()
const isServed = (name: string, address: string) =>
  waitUntil(`${name} at the dns node`, async () => (await served(name)).endsWith(` A ${address}`))

const isTextServed = () =>
  waitUntil('the text', async () =>
    (await node.answers('text.example.com. TXT')).join().endsWith(' TXT "far"'),
  )

const lastCommand = (): string => pipe.told().trimEnd().split('\n').at(-1) ?? ''
const isLastCommand = (verb: string) =>
  waitUntil(verb, () => lastCommand() === `${verb} route 127.0.0.1/32 next-hop self`)

async function create(name: string, ipAddress: string): Promise<void> {
  const call = async (path: string, body: object) => {
    const made = await callApi<{ id: string; error?: string }>(control, 'POST', path, {
      bearer,
      body,
    })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return made.body.id
  }
  const poolId = await call('/pools', { name })
  await call(`/pools/${poolId}/members`, { ipAddress, port: 80 })
  await call('/services', { name, domain: `${name}.example.com.`, ttl: 5, poolId })
}

test('a change by the API of a control node is answered by a node that pulls', async () => {
  await isServed('www', '192.0.2.1')
  await create('api', '192.0.2.77')
  await isServed('api', '192.0.2.77')
  expect(await node.health()).toBe('ok')
  // Until somebody asks for metrics.
  expect(readFileSync(modules, 'utf8')).not.toContain('/node_modules/prom-client/')
  expect((await node.metrics()).get('gslbd_bundle_source_up{source="0"}')).toBe(1)
})

test('health, which everybody may read, names the bundle and does not hold it', async () => {
  const { newest } = JSON.parse(await node.get('/api/v1/health')) as { newest: object }
  expect(Object.keys(newest)).toEqual(['seq', 'digest'])
})

test('texts of the control node are answered, and updates are sent there', async () => {
  const body = { name: 'text.example.com', value: 'far', ttl: 5 }
  const made = await callApi(control, 'POST', '/dns/txt-records', { bearer, body })
  expect(made.status).toBe(201)
  await isTextServed()
  const update = updateMessage({ zone: 'example.com.', updates: ['x.example.com. 5 IN TXT "y"'] })
  const refused = await exchangeUdp({ host: '127.0.0.1', port: node.dnsPort }, update)
  expect(decodeMessage(refused)).toMatchObject({ opcode: 5, rcode: 5 })
})

interface Shown {
  readonly name: string
  readonly digest: string
  readonly role: string
  readonly health: { readonly status: string; readonly reasons: readonly string[] }
}

const listed = async (): Promise<readonly Shown[]> => {
  const answer = await callApi<readonly Shown[]>(control, 'GET', '/cluster/nodes', { bearer })
  return answer.body
}

test('the control node lists the node with what it tells, until it stops', async () => {
  await isServed('www', '192.0.2.1')
  const [self, far] = await waitUntil('the node to tell what it serves', async () => {
    const nodes = await listed()
    return nodes.length === 2 && nodes[0]!.digest === nodes[1]!.digest ? nodes : undefined
  })
  expect(self).toMatchObject({ role: 'control', isSelf: true, drift: [] })
  expect(far).toMatchObject({
    ...{ name: 'far-1', role: 'dns', labels: { site: 'far' }, isMissing: false },
    ...{ refusals: [], drift: [], health: { status: 'ok' } },
  })
})

test('consecutive changes come as deltas', async () => {
  const used = async (): Promise<number> =>
    (await node.metrics()).get('gslbd_bundle_deltas_total{result="used"}') ?? 0
  await waitUntil('the node to have what the control node has', async () => {
    const nodes = await listed()
    return nodes.length === 2 && nodes[0]!.digest === nodes[1]!.digest
  })
  const before = await used()
  await callApi(control, 'POST', '/pools', { bearer, body: { name: 'spare' } })
  await waitUntil('a delta', async () => (await used()) > before)
})

test('a pulling node has loaded no Git, database or API, and has no other routes', async () => {
  const loaded = readFileSync(modules, 'utf8')
  const packages = ['fastify', '@electric-sql', 'pg', 'openid-client']
  const layers = ['compiler/compile.ts', 'gitops/sync', 'state/sql', 'api/server', 'jobs', 'alerts']
  const found = [
    ...packages.map((name) => `/node_modules/${name}/`),
    ...layers.map((path) => `${join(import.meta.dirname, '../..')}/${path}`),
  ].filter((part) => loaded.includes(part))
  expect(found).toEqual([])
  expect(loaded.includes('/fleet/puller.ts')).toBe(true)
  const page = await fetch(`http://127.0.0.1:${node.apiPort}/`)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await page.text()).toContain('<h1>far-1</h1>')
  expect(JSON.parse(await node.get('/api/v1/pools'))).toEqual({
    error: 'there is no GET /api/v1/pools',
  })
})

test('the control node has no thread and no port for DNS, and says so', async () => {
  expect(control.logged('gslbd is running')).toMatchObject({ roles: ['control'], port: null })
  expect(listeningPorts(control.pid)).toEqual([control.apiPort])
  const loaded = readFileSync(ofControl, 'utf8')
  const threads = ['thread-group', 'responder', 'stream']
  expect(threads.filter((name) => loaded.includes(`/server/threads/${name}`))).toEqual([])
  expect(loaded.includes('/gitops/thread/')).toBe(true)
  const [self, far] = await callApi<readonly object[]>(control, 'GET', '/cluster/nodes', {
    bearer,
  }).then(({ body }) => body)
  expect(self).toMatchObject({ isSelf: true, load: null, health: { status: 'ok' } })
  expect(far).toMatchObject({ load: { queries: expect.any(Number) as number } })
})

test('the control node says what would be answered, and what a change would do', async () => {
  const ask = async (path: string, body: object): Promise<string> =>
    JSON.stringify((await callApi<object>(control, 'POST', path, { bearer, body })).body)
  const simulated = await ask('/simulate', { name: 'api.example.com.', type: 'A' })
  expect(simulated).toContain('192.0.2.77')
  const get = { bearer }
  const { body } = await callApi<readonly { id: string }[]>(control, 'GET', '/services', get)
  const [{ id } = { id: '' }] = body
  const requests = [{ method: 'DELETE', path: `/api/v1/services/${id}` }]
  expect(await ask('/plan', { requests })).toContain('NXDOMAIN')
})

test('a pulling node announces its address, and says so in its metrics', async () => {
  await isLastCommand('announce')
  const metrics = await node.metrics()
  expect(metrics.get('gslbd_anycast_announced')).toBe(1)
  expect(metrics.get('gslbd_anycast_guarded')).toBe(1)
})

test('the control node shows what the node says of its own health', async () => {
  await node.stop()
  writeSettings(urls(), { queryLog })
  node = await nodes.start('serve', '--settings', settingsFile)
  await waitUntil('the control node to know', async () => {
    await served('api')
    const far = (await listed()).find(({ name }) => name === 'far-1')
    return far?.health.reasons.join() === 'query-log' && far.health.status === 'degraded'
  })
})

test('without its control node it goes on, and starts again from its disk', async () => {
  const tree = join(directory, 'tree')
  const published = await runCli('publish', tree, '--data-dir', site.dataDir)
  expect(published).toMatchObject({ exit: 0, err: '' })
  await controls.killAll()
  const health = () => node.get('/api/v1/health')
  await waitUntil('the loss to be seen', async () => (await health()).includes('"no-source"'))
  expect(await served('api')).toContain('192.0.2.77')
  node.signal('SIGKILL')
  await isLastCommand('withdraw')
  await node.ended
  node = await nodes.start('serve', '--settings', settingsFile)
  expect(await served('api')).toContain('192.0.2.77')
  await isLastCommand('announce')
  await isTextServed()
})

test('the health of the node shows that its query log cannot be written', async () => {
  const isFailing = async (): Promise<boolean> => {
    await served('api')
    return (await node.get('/api/v1/health')).includes('"query-log"')
  }
  await waitUntil('the failure to be seen', isFailing)
  mkdirSync(dirname(queryLog.file))
  await waitUntil('the log to be written again', async () => !(await isFailing()))
})

test('a new node has all from a plain web server that shows what was published', async () => {
  const tree = join(directory, 'tree')
  const record = readFileSync(join(tree, 'bundles/channels/main'), 'utf8')
  const { digest } = (JSON.parse(record) as { record: { digest: string } }).record
  mirror.files.set('/bundles/channels/main', record)
  mirror.files.set(`/bundles/${digest}`, readFileSync(join(tree, 'bundles', digest)))
  const texts = readFileSync(join(tree, 'bundles/channels/main.texts'), 'utf8')
  const named = (JSON.parse(texts) as SignedChannelRecord).record.digest
  mirror.files.set('/bundles/channels/main.texts', texts)
  mirror.files.set(`/bundles/${named}`, readFileSync(join(tree, 'bundles', named)))
  await node.stop()
  rmSync(join(directory, 'data'), { recursive: true })
  node = await nodes.start('serve', '--settings', settingsFile)
  await isServed('api', '192.0.2.77')
  await isTextServed()
  // A record of tomorrow: it is signed and newer, so this clock must be behind.
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const before = JSON.parse(record) as SignedChannelRecord
  const { seq, expiresAtMs, issuedAtMs } = before.record
  const dayMs = 86_400_000
  const next = { seq: seq + 1, issuedAtMs: issuedAtMs + dayMs, expiresAtMs: expiresAtMs + dayMs }
  const signed = signChannelRecord({ ...before.record, ...next }, signingKeyFromPem(pem))
  mirror.files.set('/bundles/channels/main', JSON.stringify(signed))
  await waitUntil('the clock to be told of', async () =>
    (await node.get('/api/v1/health')).includes('clock-behind'),
  )
  expect(await served('api')).toContain('192.0.2.77')
  await isLastCommand('announce')
  const stopped = await node.stop()
  expect(stopped.code).toBe(0)
  expect(lastCommand()).toContain('withdraw')
})
