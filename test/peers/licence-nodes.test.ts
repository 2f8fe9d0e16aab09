// Two nodes under a licence for one: both answer, and both tell operators of the excess.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const sites: Site[] = []
const home = makeTempDir('vendor')
let redis: RedisServer
let license: { readonly publicKey: string; readonly key: string }

beforeAll(async () => {
  redis = await startRedis()
  const vendor = join(home, 'key')
  const made = await runCli('license', 'keygen', '-o', vendor)
  const more = ['--tier', 'paid', '--max-rps', '1000']
  const issued = await runCli('license', 'issue', '--key', vendor, ...more)
  license = { publicKey: made.out.trim(), key: issued.out.trim() }
})
afterAll(async () => {
  await redis.stop()
  for (const site of sites) site.remove()
  removeTempDir(home)
})

async function startNode(nodeName: string): Promise<DaemonProcess> {
  const shared = { redis: { url: redis.url }, health: { enabled: true }, license }
  const site = await Site.make(nodeName, { ...shared, state: { nodeName } })
  sites.push(site)
  await site.push()
  return start('serve', '--settings', site.settingsFile)
}

interface Told {
  readonly tier: string
  readonly nodes: number
  readonly diagnostics: readonly { readonly file: string; readonly message: string }[]
}
const told = async (daemon: DaemonProcess, path: string): Promise<Told> =>
  (await callApi<Told>(daemon, 'GET', path)).body

test('a node too many is told on each of them, and all of them answer', async () => {
  const first = await startNode('first')
  await waitUntil('the licence', async () => (await told(first, '/license')).tier === 'paid')
  expect((await told(first, '/license')).nodes).toBe(1)
  const second = await startNode('second')
  for (const daemon of [first, second]) {
    await waitUntil('the other', async () => (await told(daemon, '/license')).nodes === 2)
    // Redis may tell of the other one before the configuration is read.
    await waitUntil('its warning', async () => {
      const { diagnostics } = await told(daemon, '/gitops/status')
      return diagnostics.length > 0
    })
    expect((await told(daemon, '/gitops/status')).diagnostics).toEqual([
      expect.objectContaining({
        code: 'licence-exceeded',
        severity: 'warning',
        file: '',
        message: '2 nodes are running, and the licence tier paid permits one',
      }),
    ])
    await waitUntil('its answer', async () => {
      const [line] = await daemon.answers('www.example.com. A')
      return line === 'www.example.com. 5 IN A 192.0.2.1'
    })
  }
  await second.stop()
  await waitUntil('one to be left', async () => (await told(first, '/license')).nodes === 1)
  expect((await told(first, '/gitops/status')).diagnostics).toEqual([])
})
