// Discovered members of a node that cannot ask the source: the control node tells them by Redis,
// and the last ones are answered while either is away.
import { createPublicKey } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { Site, poolPath } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const bundleToken = 'cd'.repeat(16)
const directory = makeTempDir('fleet-discovery')
const list = join(directory, 'targets.json')
const controls = useDaemons({ GSLB_API_KEY: 'ab'.repeat(32), GSLB_BUNDLE_TOKEN: bundleToken })
const nodes = useDaemons({ GSLB_BUNDLE_TOKEN: bundleToken })
const patience = { timeoutMs: 60_000 }
let site: Site
let redis: RedisServer
let node: DaemonProcess

const write = (...targets: readonly string[]): void => {
  writeFileSync(`${list}.new`, JSON.stringify([{ targets }]))
  renameSync(`${list}.new`, list)
}
/** Each answer has one member, in turn. */
async function answered(): Promise<string> {
  const seen = new Set<string>()
  for (let i = 0; i < 12; i++) {
    for (const line of await node.answers('www.example.com. A')) seen.add(line.split(' ').at(-1)!)
  }
  return [...seen].toSorted().join()
}

beforeAll(async () => {
  write('192.0.2.7', '192.0.2.8')
  redis = await startRedis()
  site = await Site.make('fleet-discovery', {
    ...{ roles: ['control'], redis: { url: redis.url } },
    discovery: { share: true, sources: { list: { type: 'file', path: list, interval: '1s' } } },
  })
  site.trustNode()
  site.write(
    poolPath,
    `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  members:
    - { from: list, port: 80 }
`,
  )
  await site.commit('members from a list')
  await site.push()
  const control = await controls.start('serve', '--settings', site.settingsFile)
  const pem = readFileSync(join(site.dataDir, 'keys', 'node.pem'), 'utf8')
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  writeFileSync(join(directory, 'control.pem'), publicPem)
  const settings = {
    ...{ dataDir: './data', roles: ['dns'], state: { nodeName: 'far-1' } },
    ...{ dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 }, api: { enabled: true, port: 0 } },
    ...{ redis: { url: redis.url } },
    discovery: { sources: { list: { type: 'fleet', interval: '1s' } }, removeAfter: '1s' },
    bundle: {
      urls: [`http://127.0.0.1:${control.apiPort}`],
      ...{ keys: './control.pem', poll: '100ms' },
    },
  }
  writeFileSync(join(directory, 'gslbd.yaml'), JSON.stringify(settings))
  node = nodes.spawn('serve', '--settings', join(directory, 'gslbd.yaml'))
  await node.running()
}, 300_000)
afterAll(async () => {
  await controls.killAll()
  await nodes.killAll()
  await redis.stop()
  site.remove()
  removeTempDir(directory)
})

test('a node answers the members that its control node found', async () => {
  const both = '192.0.2.7,192.0.2.8'
  await waitUntil('the members', async () => (await answered()) === both, patience)
  write('192.0.2.7', '192.0.2.9')
  const other = '192.0.2.7,192.0.2.9'
  await waitUntil('another member', async () => (await answered()) === other, patience)
})

test('while Redis is away, and without its control node, it answers the last ones', async () => {
  const before = await answered()
  redis.pause()
  const failed = () => node.logged('Redis') !== undefined
  await waitUntil('Redis to be missed', failed, patience)
  expect(await answered()).toBe(before)
  await controls.killAll()
  redis.resume()
  expect(await answered()).toBe(before)
})
