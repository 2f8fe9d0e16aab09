// Finds the Redis that takes writes: the only one, or the one that Sentinels or nodes of a Cluster
// name.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { libraryClient } from './client.ts'
import type { LibraryClient } from './client.ts'
import { redisLimits } from './limits.ts'
import type { RedisPlace, RedisTarget } from './target.ts'
import { wordOf } from './fault-codes.ts'

/** Errors: a code for the log, and the place. */
type FoundMaster = Result<RedisPlace, { readonly word: string; readonly at: RedisPlace }>

/** @param key any key of ours: in a Cluster all are in one slot */
export async function findMaster(target: RedisTarget, key: string): Promise<FoundMaster> {
  if (target.kind === 'one') return ok(target.hosts[0]!)
  const ask = target.kind === 'sentinels' ? askSentinel(target.master) : askCluster(key)
  let last: FoundMaster = err({ word: 'NOHOST', at: target.hosts[0]! })
  // Sequentially: the first that knows is enough.
  for (const at of target.hosts) {
    last = await asked(target, at, ask)
    if (last.ok) return last
  }
  return last
}

type Ask = (client: LibraryClient, at: RedisPlace) => Promise<RedisPlace | string>

async function asked(target: RedisTarget, at: RedisPlace, ask: Ask): Promise<FoundMaster> {
  const isSentinel = target.kind === 'sentinels'
  const client = await libraryClient({ target, place: at, isSentinel })
  client.on('error', () => undefined)
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve('TIMEOUT'), redisLimits.findTimeoutMs)
  try {
    const found = await Promise.race([client.connect().then(() => ask(client, at)), late.promise])
    return typeof found === 'string' ? err({ word: found, at }) : ok(found)
  } catch (error) {
    return err({ word: wordOf(error), at })
  } finally {
    clearTimeout(timer)
    if (client.isOpen) client.destroy()
  }
}

const askSentinel =
  (master: string): Ask =>
  async (client) => {
    const words = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master]
    const [host, port] = (await client.sendCommand<readonly string[] | null>(words)) ?? []
    return host === undefined ? 'NOMASTER' : { host, port: Number(port) }
  }

type Slots = readonly [first: number, last: number, owner: readonly [host: string, port: number]]

const askCluster =
  (key: string): Ask =>
  async (client, at) => {
    const slot = await client.sendCommand<number>(['CLUSTER', 'KEYSLOT', key])
    const rows = await client.sendCommand<readonly Slots[]>(['CLUSTER', 'SLOTS'])
    const owner = rows.find(([first, last]) => first <= slot && slot <= last)?.[2]
    if (owner === undefined) return 'NOSLOT'
    const [host, port] = owner
    // A node that does not know its own address leaves it empty.
    return { host: host === '' || host === null ? at.host : host, port }
  }
