// A control node, a node that pulls and two probe agents on one Redis. What only an agent reaches
// is answered everywhere; what a dead agent probed is taken on by the other one.
import { createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { runCli } from '#test/support/run-cli.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { poolPath, Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const token = { GSLB_BUNDLE_TOKEN: 'cd'.repeat(16) }
const directory = makeTempDir('probe-agents')
const modules = join(directory, 'modules')
const controls = useDaemons(token)
/** Scripts of checks see it: it stands for a network that others have no way to. */
const agents = useDaemons(
  { ...token, REACHES: 'yes', LOADED_MODULES: modules },
  join(import.meta.dirname, '../../cli/main.ts'),
)
const health = { enabled: true, allowScriptChecks: true, probers: 1 }
const state = { healthPolicy: 'global-any-healthy' }
let redis: RedisServer
let site: Site
let nodeSettings = ''
let [control, node, first, second]: (DaemonProcess | undefined)[] = []

const check =
  '{ type: script, intervalMs: 1000, timeoutMs: 1000, scriptContent: "test -n \\"$REACHES\\"" }'
const memberCount = 12
const members = Array.from({ length: memberCount }, (_, i) => {
  return `    - { name: m${i}, ipAddress: 192.0.2.${i + 1}, port: 80 }`
}).join('\n')
const pool = `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  healthCheck: ${check}
  members:
${members}
`

function settingsOf(nodeName: string, label: string, more: object): string {
  const path = join(directory, `${nodeName}.yaml`)
  const settings = {
    dataDir: `./${nodeName}`,
    node: { labels: { site: label } },
    state: { ...state, nodeName },
    redis: { url: redis.url },
    api: { enabled: true, port: 0 },
    bundle: { urls: [`http://127.0.0.1:${control!.apiPort}`], keys: './control.pem' },
    ...more,
  }
  writeFileSync(path, JSON.stringify(settings))
  return path
}

const controlSettings = () => ({
  health,
  redis: { url: redis.url },
  state: { ...state, nodeName: 'control' },
})

beforeAll(async () => {
  redis = await startRedis()
  site = await Site.make('probe-agents', controlSettings())
  site.trustNode()
  site.write(poolPath, pool)
  await site.commit('members that only agents reach')
  await site.push()
  control = await controls.start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await control!.health()) === 'ok')
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  const answering = { roles: ['dns'], dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 } }
  nodeSettings = settingsOf('near', 'near', { ...answering, health })
  node = await controls.start('serve', '--settings', nodeSettings)
}, 240_000)

afterAll(async () => {
  await controls.killAll()
  await agents.killAll()
  await redis.stop()
  site.remove()
  removeTempDir(directory)
})

const addresses = async (daemon: DaemonProcess): Promise<readonly string[]> =>
  (await daemon.answers('www.example.com. A')).map((line) => line.split(' ').at(-1)!).sort()
const isDown = async (daemon: DaemonProcess): Promise<boolean> =>
  (await addresses(daemon)).join() === 'NOERROR'
const targets = async (daemon: DaemonProcess): Promise<number> =>
  (await daemon.metrics()).get('gslbd_probe_targets') ?? -1

test('a member that only an agent reaches is answered by nodes that cannot reach it', async () => {
  for (const one of [control!, node!]) await waitUntil('no answer', () => isDown(one))
  const preload = join(import.meta.dirname, '../support/list-modules.ts')
  const settings = settingsOf('agent-1', 'far', { roles: ['agent'], health: { ...health } })
  first = agents.spawnWith(preload, 'serve', '--settings', settings)
  await first.running()
  for (const one of [control!, node!])
    await waitUntil('an answer', async () => (await addresses(one))[0]?.startsWith('192.0.2.'))
  expect(await first.health()).toBe('ok')
})

test('an agent has no DNS, and has loaded nothing that answers', async () => {
  const loaded = readFileSync(modules, 'utf8')
  const parts = [
    // Echo requests need koffi.
    ...['fastify', '@electric-sql', 'pg', 'prom-client'].map((name) => `/node_modules/${name}/`),
    ...['compiler/compile.ts', 'gitops/sync', 'state/sql', 'api/server', 'node/fleet/dns-node.ts'],
    ...['server/threads/thread-group.ts', 'answer/answer.ts', 'inputs/geo/geo-source.ts'],
    ...['server/redirect/', 'server/shadow/', 'server/texts/pulled-texts.ts'],
    ...['zones/notify/', 'zones/transfer/'],
  ]
  expect(parts.filter((part) => loaded.includes(part))).toEqual([])
  expect(loaded).toContain('/health/thread/worker.ts')
  expect(first!.dnsPort).toBe(0)
  expect(await (await fetch(`http://127.0.0.1:${first!.apiPort}/api/v1/ready`)).json()).toEqual({
    status: 'ready',
    reasons: [],
  })
})

/** Seconds at rest, and minutes where others run. */
const shareMs = 240_000

test(
  'two agents of a site share the members, and one takes on all when one dies',
  async () => {
    // One of an earlier try holds its directory.
    second?.signal('SIGKILL')
    await second?.ended
    const settings = settingsOf('agent-2', 'far', { health: { ...health } })
    second = await agents.start('agent', '--settings', settings)
    const areShared = async (): Promise<boolean> => {
      const [one, other] = [await targets(first!), await targets(second!)]
      return one + other === memberCount && other > 0 && one > 0
    }
    await waitUntil('each member to have one of them', areShared, { timeoutMs: shareMs })
    second.signal('SIGKILL')
    await second.ended
    await waitUntil('the other to probe all', async () => (await targets(first!)) === memberCount)
    expect((await addresses(node!))[0]).toMatch(/^192\.0\.2\./)
    first!.signal('SIGKILL')
    await first!.ended
    await waitUntil('its words to grow old', () => isDown(node!))
  },
  3 * shareMs,
)

test('the licence of a control node counts at nodes that pull, and after a restart', async () => {
  const vendor = join(directory, 'vendor')
  const publicKey = (await runCli('license', 'keygen', '-o', vendor)).out.trim()
  const apply = async (tier: string): Promise<void> => {
    const issued = await runCli('license', 'issue', '--key', vendor, '--tier', tier)
    const license = { publicKey, key: issued.out.trim() }
    site.writeSettings({ ...controlSettings(), license })
    control!.signal('SIGHUP')
  }
  const settings = settingsOf('agent-4', 'far', { health: { ...health } })
  const agent = await agents.start('agent', '--settings', settings)
  const isUp = async (): Promise<boolean> =>
    (await addresses(node!))[0]?.startsWith('192.0.2.') ?? false
  await waitUntil('an answer', isUp)
  await apply('paid')
  await waitUntil('no agent to be permitted', () => isDown(node!))
  control!.signal('SIGSTOP')
  expect((await node!.stop()).code).toBe(0)
  node = await controls.start('serve', '--settings', nodeSettings)
  await waitUntil('the agent to be heard', async () => (await targets(agent)) === memberCount)
  await waitUntil('its members to be probed', () => isDown(node!))
  control!.signal('SIGCONT')
  await apply('pro')
  await waitUntil('ten to be permitted', isUp)
  expect((await agent.stop()).code).toBe(0)
})

test('an agent without Redis is heard by all nodes, through a control node', async () => {
  const settings = settingsOf('agent-3', 'far', { redis: {}, health: { ...health } })
  const third = await agents.start('agent', '--settings', settings)
  await waitUntil('an answer', async () => (await addresses(node!))[0]?.startsWith('192.0.2.'))
  expect((await control!.metrics()).get('gslbd_peer_nodes')).toBe(1)
  expect((await third.stop()).code).toBe(0)
})
