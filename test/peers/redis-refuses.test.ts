// A real Redis that answers and takes no writes: it counts as away, what ended meanwhile stays
// ended on all nodes, and once it is well it counts again.
import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import { prefix } from '#test/support/ephemeral-adapters.ts'
import { redisCli, startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const hashOf = (n: number): string => `${n}`.padStart(64, '0')
const ann = { userId: 'ann', tenantId: 'acme', role: 'viewer', createdAtMs: 0 }
const bob = { ...ann, userId: 'bob' }
const hour = 3_600_000
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

interface Trouble {
  readonly word: string
  readonly begin: (server: RedisServer) => Promise<unknown>
  readonly end: (server: RedisServer) => Promise<unknown>
}

const config = ({ port }: RedisServer, ...words: string[]): Promise<string> =>
  redisCli(port, 'CONFIG', 'SET', ...words)
const dumpOf = ({ directory }: RedisServer): string => join(directory, 'dump.rdb')
async function dumped(server: RedisServer, outcome: string): Promise<void> {
  await redisCli(server.port, 'BGSAVE')
  const info = () => redisCli(server.port, 'INFO', 'persistence')
  await waitUntil(outcome, async () => (await info()).includes(`last_bgsave_status:${outcome}`))
}

const troubles: readonly (readonly [string, Trouble])[] = [
  [
    'replicas',
    {
      word: 'NOREPLICAS',
      begin: (server) => config(server, 'min-replicas-to-write', '1'),
      end: (server) => config(server, 'min-replicas-to-write', '0'),
    },
  ],
  [
    'memory',
    {
      word: 'OOM',
      begin: (server) => config(server, 'maxmemory', '1'),
      end: (server) => config(server, 'maxmemory', '0'),
    },
  ],
  [
    'the right to write',
    {
      word: 'NOPERM',
      begin: ({ port }) => redisCli(port, 'ACL', 'SETUSER', 'default', '-@write'),
      end: ({ port }) => redisCli(port, 'ACL', 'SETUSER', 'default', '+@write'),
    },
  ],
  [
    'a place for its snapshots',
    {
      word: 'MISCONF',
      begin: async (server) => {
        // A directory that has the name of the file: root, too, cannot write over it.
        mkdirSync(dumpOf(server))
        await config(server, 'save', '3600 1')
        await dumped(server, 'err')
      },
      end: async (server) => {
        rmdirSync(dumpOf(server))
        await dumped(server, 'ok')
      },
    },
  ],
]

async function redis(): Promise<RedisServer> {
  const server = await startRedis('always')
  onTestFinished(server.stop)
  return server
}

async function node({ url }: RedisServer, endedSessionsFile: string): Promise<EphemeralState> {
  const options = { redis: { url }, prefix, clock: systemClock, log: quiet, endedSessionsFile }
  const created = createEphemeral({ ...options, commandTimeoutMs: 10_000 })
  if (!created.ok) throw new Error(created.error)
  onTestFinished(created.value.close)
  await stateIs(created.value, 'up')
  return created.value
}

const stateIs = (node: EphemeralState, state: 'up' | 'away') =>
  waitUntil(`Redis to be ${state}`, () => node.status().state === state)
const begin = (node: EphemeralState, n: number, who = ann) =>
  valueOf(node.sessions.create(hashOf(n), { ...who, createdAtMs: Date.now() }, hour))
const isKnown = async (node: EphemeralState, n: number): Promise<boolean> =>
  (await valueOf(node.sessions.find(hashOf(n), null))) !== null
const isStored = async ({ port }: RedisServer, n: number): Promise<boolean> =>
  (await redisCli(port, 'EXISTS', `${prefix}session:${hashOf(n)}`)) !== '0'

test.each(troubles)('a Redis that lacks %s', async (_what, { word, begin: lack, end }) => {
  const server = await redis()
  const file = join(tempDir('ended'), 'node', 'ended-sessions')
  const [a, b] = [await node(server, file), await node(server, `${file}-b`)]
  for (const n of [1, 2]) await begin(a, n)
  for (const n of [3, 4]) await begin(b, n, bob)
  await lack(server)
  // Both at once, before it is noticed that they are refused.
  await Promise.all([
    valueOf(a.sessions.revoke(hashOf(1))),
    valueOf(a.sessions.revokeUser(bob.userId)),
  ])
  await Promise.all([stateIs(a, 'away'), stateIs(b, 'away')])
  for (const one of [a, b]) expect(one.status().fault).toBe(`Redis takes no writes (${word}).`)
  for (const n of [1, 3, 4]) expect(await isKnown(a, n)).toBe(false)
  await begin(a, 5, bob)
  await end(server)
  // By itself, without any request that asks for it.
  await Promise.all([stateIs(a, 'up'), stateIs(b, 'up')])
  await waitUntil('what ended to be gone', async () =>
    (await Promise.all([1, 3, 4].map((n) => isStored(server, n)))).every((one) => !one),
  )
  for (const n of [1, 3, 4])
    expect([await isKnown(a, n), await isKnown(b, n)]).toEqual([false, false])
  await waitUntil('the session that began to be shared', () => isKnown(b, 5))
  expect([await isKnown(a, 2), await isKnown(b, 2)]).toEqual([true, true])
  await waitUntil('nothing to be left to tell', () => !existsSync(file))
})

test('ended sessions are reported after a restart of the node as well', async () => {
  const server = await redis()
  const file = join(tempDir('ended'), 'node', 'ended-sessions')
  const [a, b] = [await node(server, file), await node(server, `${file}-b`)]
  await begin(a, 1)
  await begin(b, 2, bob)
  await config(server, 'min-replicas-to-write', '1')
  await valueOf(a.sessions.revoke(hashOf(1)))
  await valueOf(a.sessions.revokeUser(bob.userId))
  a.close()
  await stateIs(b, 'away')
  await config(server, 'min-replicas-to-write', '0')
  await stateIs(b, 'up')
  await begin(b, 3, bob)
  const again = await node(server, file)
  expect([await isKnown(again, 1), await isKnown(again, 2)]).toEqual([false, false])
  await waitUntil('what ended to be gone', async () => !(await isKnown(b, 1)))
  await waitUntil('all of the account', async () => !(await isKnown(b, 2)))
  await waitUntil('nothing to be left to tell', () => !existsSync(file))
})
