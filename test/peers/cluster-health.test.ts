// Two nodes on one Redis, which see a member differently: answers, status, and Redis lost and back.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTcpBackend } from '#test/support/backend.ts'
import type { Backend } from '#test/support/backend.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { poolPath, poolYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const sites: Site[] = []
let redis: RedisServer
let backend: Backend
let [near, far]: (DaemonProcess | undefined)[] = []

interface MemberStatus {
  readonly healthy: boolean
  readonly rttMs: number
  readonly globalRttMs?: number
  readonly healthyNodes: number
  readonly totalNodes: number
  readonly nodes: readonly { readonly node: string; readonly healthy: boolean }[]
}

/** A node whose probes knock at `port`: where nothing listens, they find the member ill. */
async function startNode(nodeName: string, port: number): Promise<DaemonProcess> {
  const site = await Site.make(nodeName, {
    health: { enabled: true },
    redis: { url: redis.url },
    state: { nodeName, healthPolicy: 'global-any-healthy' },
  })
  sites.push(site)
  const check = `{ type: tcp, port: ${port}, intervalMs: 1000, timeoutMs: 500 }`
  site.write(poolPath, poolYaml('127.0.0.1', check))
  await site.commit('a pool that is probed')
  await site.push()
  return start('serve', '--settings', site.settingsFile)
}

beforeAll(async () => {
  redis = await startRedis()
  backend = await startTcpBackend((socket) => socket.end())
  far = await startNode('far', await freePort())
  near = await startNode('near', backend.port)
}, 120_000)

afterAll(async () => {
  await redis.stop()
  await backend.close()
  for (const site of sites) site.remove()
})

async function statusOf(daemon: DaemonProcess): Promise<MemberStatus> {
  const [pool] = JSON.parse(await daemon.get('/api/v1/pools')) as { id: string }[]
  const text = await daemon.get(`/api/v1/pools/${pool!.id}/status`)
  return (JSON.parse(text) as { members: Record<string, MemberStatus> }).members['127.0.0.1']!
}

const answersWith = async (daemon: DaemonProcess, answer: string): Promise<boolean> => {
  const [first] = await daemon.answers('www.example.com. A')
  return first === answer
}
const member = 'www.example.com. 5 IN A 127.0.0.1'
const seenBy = ({ nodes }: MemberStatus): string =>
  nodes.map(({ node, healthy }) => `${node} ${healthy ? '+' : '-'}`).join(', ')

test('a member that only the other node reaches is answered, and the status says so', async () => {
  await waitUntil('far to hear of it', async () => {
    return seenBy(await statusOf(far!)) === 'far -, near +'
  })
  await waitUntil('far to answer', () => answersWith(far!, member))
  await waitUntil('the least round trip', async () => (await statusOf(far!)).globalRttMs! > 0)
  expect(await statusOf(far!)).toMatchObject({
    ...{ healthy: true, rttMs: 0, healthyNodes: 1, totalNodes: 2 },
  })
  expect(seenBy(await statusOf(near!))).toBe('near +, far -')
  expect((await far!.metrics()).get('gslbd_peer_nodes')).toBe(1)
})

test('changes made while Redis was away are known when it is back', async () => {
  await redis.kill()
  await waitUntil('both to say so', async () => {
    const [a, b] = [await near!.health(), await far!.health()]
    return a === 'degraded' && b === 'degraded'
  })
  expect((await far!.metrics()).get('gslbd_redis_up')).toBe(0)
  expect(far!.logged('Redis is not reached')?.level).toBe('warn')
  await backend.close()
  await waitUntil('near to see it', () => answersWith(near!, 'NOERROR'))
  await redis.start()
  await waitUntil('far to hear of it', () => answersWith(far!, 'NOERROR'))
  expect(seenBy(await statusOf(far!))).toBe('far -, near -')
  expect([await near!.health(), await far!.health()]).toEqual(['ok', 'ok'])
})
