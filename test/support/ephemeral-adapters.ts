// The stores that the contracts of ephemeral state are tested on.
import { createClient } from '@redis/client'
import { afterAll, beforeAll, beforeEach, inject } from 'vitest'
import type { Clock } from '#lib/clock.ts'
import { createEphemeral, redisPorts } from '#state/ephemeral.ts'
import type { EphemeralPorts } from '#state/ephemeral.ts'
import { Redis } from '#state/redis/redis.ts'
import { redisTarget } from '#state/redis/target.ts'
import type { RedisTarget } from '#state/redis/target.ts'
import { FakeTime } from './fake-time.ts'
import { isValkeyTested, redisCli, startRedis } from './redis-server.ts'
import type { RedisProduct, RedisServer } from './redis-server.ts'
import { waitUntil } from './wait-until.ts'

interface EphemeralUnderTest {
  readonly ports: EphemeralPorts
  readonly clock: Clock
  /** Ages everything stored by this time. */
  readonly pass: (durationMs: number) => Promise<void>
  readonly close: () => void
}

/** Makes an empty store for one test, with its server. */
interface EphemeralAdapter {
  readonly open: () => Promise<EphemeralUnderTest>
  readonly stop: () => Promise<void>
}

export const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined }
export const prefix = 'test:'

/** The contracts test the store, not the load of the machine. */
const commandTimeoutMs = 10_000

interface Connected {
  readonly ports: EphemeralPorts
  readonly close: () => void
}

const inMemory =
  (url: string): (() => Promise<EphemeralAdapter>) =>
  async () => ({
    open: async () => {
      const time = new FakeTime(1_800_000_000_000)
      const created = createEphemeral({ redis: { url }, prefix, clock: time.clock, log: silentLog })
      if (!created.ok) throw new Error(created.error)
      const pass = async (durationMs: number): Promise<void> => time.pass(durationMs)
      return { ports: created.value, clock: time.clock, pass, close: created.value.close }
    },
    stop: async () => undefined,
  })

type Connect = (url: string, clock: Clock) => Promise<Connected>

const adapterOf = (server: RedisServer, connect: Connect): EphemeralAdapter => ({
  open: async () => {
    await flushRedis(server)
    const time = new FakeTime(Date.now())
    const pass = async (durationMs: number): Promise<void> => {
      time.pass(durationMs)
      await age(server, durationMs)
    }
    return { ...(await connect(server.url, time.clock)), clock: time.clock, pass }
  },
  stop: server.stop,
})

const onRedis = (connect: Connect, product?: RedisProduct) => async (): Promise<EphemeralAdapter> =>
  adapterOf(await startRedis('everysec', () => ({}), product), connect)

function targetOf(url: string): RedisTarget {
  const target = redisTarget({ url })
  if (!target.ok) throw new Error(target.error)
  return target.value
}

const alone: Connect = async (url, clock) => {
  const target = targetOf(url)
  const redis = new Redis({ target, prefix, clock, log: silentLog, commandTimeoutMs })
  await waitUntil('Redis', () => redis.status().state === 'up')
  return { ports: redisPorts(redis, clock), close: () => redis.close() }
}

/** A node with all slots: it refuses scripts with keys in two of them. */
const inCluster = (product?: RedisProduct) => async (): Promise<EphemeralAdapter> => {
  const server = await startRedis('everysec', () => ({ 'cluster-enabled': 'yes' }), product)
  await redisCli(server.port, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await waitUntil('the Cluster', async () =>
    (await redisCli(server.port, 'CLUSTER', 'INFO')).includes('cluster_state:ok'),
  )
  return adapterOf(server, async (url, clock) => {
    const redisOptions = { redis: { url, cluster: true }, commandTimeoutMs }
    const created = createEphemeral({ ...redisOptions, prefix, clock, log: silentLog })
    if (!created.ok) throw new Error(created.error)
    await waitUntil('Redis', () => created.value.status().state === 'up')
    return { ports: created.value, close: created.value.close }
  })
}

const withFallback = onRedis(async (url, clock) => {
  const created = createEphemeral({
    redis: { url },
    prefix,
    clock,
    log: silentLog,
    commandTimeoutMs,
  })
  if (!created.ok) throw new Error(created.error)
  await waitUntil('Redis', () => created.value.status().state === 'up')
  return { ports: created.value, close: created.value.close }
})

/** In the second row the port has no server. */
const withoutServers: readonly [string, () => Promise<EphemeralAdapter>][] = [
  ['memory', inMemory('')],
  ['memory, since Redis is away', inMemory('redis://127.0.0.1:1/0')],
]

/** Stores shared by several nodes. */
const withServers: typeof withoutServers = [
  ['Redis', onRedis(alone)],
  ['Redis with the fallback', withFallback],
  ['Redis Cluster', inCluster()],
  ...(isValkeyTested
    ? ([
        ['Valkey', onRedis(alone, 'valkey')],
        ['Valkey Cluster', inCluster('valkey')],
      ] satisfies typeof withoutServers)
    : []),
]

export const ephemeralAdapters = inject('stateServers') ? withServers : withoutServers
export const sharedAdapters = inject('stateServers') ? withServers : []

/** Call it inside `describe`. @returns the store, empty at the start of each test */
export function useEphemeral(start: () => Promise<EphemeralAdapter>): () => EphemeralUnderTest {
  let adapter: EphemeralAdapter
  let current: EphemeralUnderTest | undefined
  beforeAll(async () => {
    adapter = await start()
  })
  beforeEach(async () => {
    current?.close()
    current = await adapter.open()
  })
  afterAll(async () => {
    current?.close()
    await adapter.stop()
  })
  return () => current!
}

async function withClient<T>(
  { url }: RedisServer,
  work: (send: (...words: string[]) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const client = createClient({ url, RESP: 2 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work((...words) => client.sendCommand(words))
  } finally {
    client.destroy()
  }
}

export async function flushRedis(server: RedisServer): Promise<void> {
  await withClient(server, (send) => send('FLUSHALL'))
}

/** Shortens all lives, so that no test has to wait. */
async function age(server: RedisServer, durationMs: number): Promise<void> {
  await withClient(server, async (send) => {
    for (const key of (await send('KEYS', '*')) as string[]) {
      const leftMs = Number(await send('PTTL', key))
      if (leftMs > durationMs) await send('PEXPIRE', key, `${leftMs - durationMs}`)
      else if (leftMs >= 0) await send('DEL', key)
    }
  })
}
