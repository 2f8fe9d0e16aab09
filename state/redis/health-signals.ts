// Health signals in Redis, shared by all nodes.
import type { Clock } from '#lib/clock.ts'
import { healthSignalLimits } from '../ports/health-signals.ts'
import type { HealthSignal, HealthSignals } from '../ports/health-signals.ts'
import { orReject } from '../ports/store-result.ts'
import { readHash } from './read-hash.ts'
import { redisScript } from './redis.ts'
import type { Redis } from './redis.ts'

/**
 * KEYS: signals by entry, times by entry, number of sources by member. ARGV: entry, signal, its
 * time, member, oldest time, most sources, most signals, life of the keys, channel.
 */
const postScript = redisScript(`
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if known and tonumber(known) > tonumber(ARGV[3]) then return 'replaced' end
if not known then
  local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[5], 'LIMIT', 0, 1000)
  for _, entry in ipairs(old) do
    redis.call('ZREM', KEYS[2], entry)
    redis.call('HDEL', KEYS[1], entry)
    local member = cjson.decode(entry)[1]
    if redis.call('HINCRBY', KEYS[3], member, -1) <= 0 then redis.call('HDEL', KEYS[3], member) end
  end
  local sources = tonumber(redis.call('HGET', KEYS[3], ARGV[4]) or 0)
  if sources >= tonumber(ARGV[6]) then return 'full' end
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[7]) then return 'full' end
  redis.call('HINCRBY', KEYS[3], ARGV[4], 1)
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[8]) end
redis.call('PUBLISH', ARGV[9], ARGV[2])
return 'accepted'`)

const channel = 'health-signals'

export function createRedisHealthSignals(redis: Redis, clock: Clock): HealthSignals {
  const words = redis.key('health-signals', 'words')
  const keys = [words, redis.key('health-signals', 'times'), redis.key('health-signals', 'sources')]
  const oldestMs = (): number => clock.nowMs() - healthSignalLimits.keptMs
  const load = async (): Promise<readonly HealthSignal[]> => {
    const texts = [...(await readHash(redis, words)).values()]
    const signals = texts.map((text) => JSON.parse(text) as HealthSignal)
    return signals.filter(({ postedAtMs }) => postedAtMs > oldestMs())
  }
  return {
    post: async (signal) => {
      const { memberUid, source, healthy, score, postedAtMs, expiresAtMs } = signal
      const kept = { memberUid, source, healthy, score, postedAtMs, expiresAtMs }
      const { sourcesPerMemberMax, signalsMax, keptMs } = healthSignalLimits
      await redis.listening()
      const reply = await orReject(
        redis.run(postScript, keys, [
          JSON.stringify([memberUid, source]),
          JSON.stringify(kept),
          `${postedAtMs}`,
          memberUid,
          `${oldestMs()}`,
          `${sourcesPerMemberMax}`,
          `${signalsMax}`,
          `${keptMs}`,
          redis.key(channel),
        ]),
      )
      return reply as 'accepted' | 'replaced' | 'full'
    },
    load,
    subscribe: (handler) => {
      const hear = (text: string): void => handler(JSON.parse(text) as HealthSignal)
      const leave = redis.subscribe(channel, hear)
      // Signals missed during an outage are passed on now.
      const forget = redis.onUp(() => {
        load().then(
          (signals) => signals.forEach((signal) => handler(signal)),
          () => undefined,
        )
      })
      return () => {
        leave()
        forget()
      }
    },
  }
}
