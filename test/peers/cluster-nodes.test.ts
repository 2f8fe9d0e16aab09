// Two nodes on one Redis: each lists both, and one restarts the other.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { version } from '#lib/version.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons({ GSLB_SUPERVISED: '1' })
const alone = useDaemons()
const sites: Site[] = []
let redis: RedisServer
const nodes = new Map<string, DaemonProcess>()

async function startNode(nodeName: string, by = start): Promise<DaemonProcess> {
  const site = await Site.make(nodeName, { redis: { url: redis.url }, state: { nodeName } })
  sites.push(site)
  await site.push()
  const daemon = await by('serve', '--settings', site.settingsFile)
  nodes.set(nodeName, daemon)
  return daemon
}

beforeAll(async () => {
  redis = await startRedis()
  await startNode('near')
  await startNode('far')
  await startNode('bare', alone.start)
}, 120_000)

afterAll(async () => {
  await redis.stop()
  for (const site of sites) site.remove()
})

interface Shown {
  readonly name: string
  readonly isSelf: boolean
  readonly commit: string | null
  readonly digest: string | null
  readonly version: string
  readonly canRestart: boolean
}

async function nodesOf(name: string): Promise<readonly Shown[]> {
  return JSON.parse(await nodes.get(name)!.get('/api/v1/cluster/nodes')) as Shown[]
}

async function restart(by: string, name: string): Promise<readonly [number, string]> {
  const { apiPort } = nodes.get(by)!
  const path = `/api/v1/cluster/nodes/${name}/restart`
  const answer = await fetch(`http://127.0.0.1:${apiPort}${path}`, { method: 'POST' })
  return [answer.status, await answer.text()]
}

test('each node lists all, itself first, with what each answers from', async () => {
  for (const name of ['near', 'far', 'bare']) {
    const listed = await waitUntil('all to be listed', async () => {
      const list = await nodesOf(name)
      return list.length === 3 && list.every(({ commit }) => commit !== null) ? list : undefined
    })
    expect(listed[0]).toMatchObject({ name, isSelf: true, version })
    expect(listed.map((one) => one.name).toSorted()).toEqual(['bare', 'far', 'near'])
    for (const one of listed) {
      expect(one.digest).toMatch(/^[0-9a-f]{64}$/)
      expect(one.canRestart).toBe(one.name !== 'bare')
    }
  }
})

test('a node that nothing would start again goes on, and says why', async () => {
  for (const by of ['bare', 'near']) {
    const [status, text] = await restart(by, 'bare')
    expect([status, text]).toEqual([409, expect.stringContaining('GSLB_SUPERVISED=1')])
  }
  expect(nodes.get('bare')!.isOver).toBe(false)
})

test('a node that another one restarts ends cleanly with 75, and stays in the list', async () => {
  expect(await restart('near', 'far')).toEqual([202, '{"name":"far","status":"restarting"}'])
  expect(await nodes.get('far')!.ended).toEqual({ code: 75, signal: null })
  expect(nodes.get('far')!.logged('gslbd has stopped')).toBeDefined()
  expect((await nodesOf('near')).map(({ name }) => name)).toContain('far')
})

test('a node restarts itself: the answer comes first', async () => {
  expect(await restart('near', 'near')).toEqual([202, '{"name":"near","status":"restarting"}'])
  expect(await nodes.get('near')!.ended).toEqual({ code: 75, signal: null })
})

test('a node that is stopped leaves the list', async () => {
  await startNode('third')
  await waitUntil('the third', async () =>
    (await nodesOf('bare')).some(({ name }) => name === 'third'),
  )
  await nodes.get('third')!.stop()
  expect((await nodesOf('bare')).map(({ name }) => name)).not.toContain('third')
})
