// The health bus between nodes, through Redis.
import type { VerdictOwner } from '../ports/health-verdicts.ts'
import type { PeerHealth, PeerUpdate, PeerVerdict } from '../ports/peer-health.ts'
import { orReject } from '../ports/store-result.ts'
import { redisLimits } from './limits.ts'
import { readHash } from './read-hash.ts'
import { redisScript } from './redis.ts'
import type { Redis } from './redis.ts'

/**
 * KEYS: the node's verdicts, the times of all nodes. ARGV: node, time, oldest time, life of the
 * verdicts, channel, the update, number of earlier verdicts, number of withdrawn fields, those
 * fields, then field and verdict in turn. Returns 0 when Redis has lost the node's earlier
 * verdicts.
 */
const publishScript = redisScript(`
local lost = tonumber(ARGV[7]) > 0 and redis.call('EXISTS', KEYS[1]) == 0
local withdrawn = tonumber(ARGV[8])
for i = 9, 8 + withdrawn do redis.call('HDEL', KEYS[1], ARGV[i]) end
for i = 9 + withdrawn, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not known or tonumber(known) < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[6])
return lost and 0 or 1`)

/** Fields of one call; Lua accepts no more than some thousands of arguments. */
const ownersPerCallMax = 1_000
const channel = 'peer-health'

export function createRedisPeerHealth(redis: Redis): PeerHealth {
  return new RedisPeerHealth(redis)
}

class RedisPeerHealth implements PeerHealth {
  readonly #redis: Redis
  /** Verdicts published by this process, to be repeated when Redis has lost them. */
  readonly #own = new Map<string, Map<string, PeerVerdict>>()

  constructor(redis: Redis) {
    this.#redis = redis
  }

  readonly publish = async (update: PeerUpdate): Promise<void> => {
    const { node } = update
    const own = this.#own.get(node) ?? new Map<string, PeerVerdict>()
    const before = own.size
    for (const owner of update.withdrawn) own.delete(fieldOf(owner))
    for (const verdict of update.changed) own.set(fieldOf(verdict), { ...verdict, node })
    this.#own.set(node, own)
    await this.#redis.listening()
    if (await this.#send(update, before)) return
    await this.#send({ ...update, changed: [...own.values()], withdrawn: [] }, 0)
  }

  readonly load = async (): Promise<readonly PeerVerdict[]> => {
    const key = this.#redis.key('peer-health', 'nodes')
    const reply = await orReject(this.#redis.command('ZRANGE', key, '0', '-1', 'WITHSCORES'))
    const pairs = reply as readonly string[]
    const verdicts: PeerVerdict[] = []
    for (let i = 0; i < pairs.length; i += 2) {
      const atMs = Number(pairs[i + 1])
      const words = await readHash(this.#redis, this.#words(pairs[i]!))
      for (const text of words.values()) {
        verdicts.push({ ...(JSON.parse(text) as PeerVerdict), atMs })
      }
    }
    return verdicts
  }

  readonly subscribe: PeerHealth['subscribe'] = (handler, onGap = () => undefined) => {
    const hear = (text: string): void => handler(JSON.parse(text) as PeerUpdate)
    const leave = this.#redis.subscribe(channel, hear)
    const forget = this.#redis.onUp(onGap)
    return () => {
      leave()
      forget()
    }
  }

  /** @returns false: Redis has lost the node's earlier verdicts */
  async #send(update: PeerUpdate, before: number): Promise<boolean> {
    const { changed, withdrawn } = update
    let isKnown = true
    for (let i = 0; i === 0 || i < Math.max(changed.length, withdrawn.length);) {
      const end = i + ownersPerCallMax
      const part = {
        ...update,
        changed: changed.slice(i, end),
        withdrawn: withdrawn.slice(i, end),
      }
      const reply = await orReject(this.#sendPart(part, i === 0 ? before : 0))
      isKnown &&= reply === 1
      i = end
    }
    return isKnown
  }

  #sendPart(update: PeerUpdate, before: number) {
    const { node, changed, withdrawn, atMs } = update
    const keys = [this.#words(node), this.#redis.key('peer-health', 'nodes')]
    return this.#redis.run(publishScript, keys, [
      node,
      `${atMs}`,
      `${atMs - redisLimits.peerKeptMs}`,
      `${redisLimits.peerKeptMs}`,
      this.#redis.key(channel),
      JSON.stringify(update),
      `${before}`,
      `${withdrawn.length}`,
      ...withdrawn.map(fieldOf),
      ...changed.flatMap((verdict) => [fieldOf(verdict), JSON.stringify({ ...verdict, node })]),
    ])
  }

  #words(node: string): string {
    return this.#redis.key('peer-health', 'words', node)
  }
}

const fieldOf = ({ memberUid, ipAddress }: VerdictOwner): string => `${memberUid} ${ipAddress}`
