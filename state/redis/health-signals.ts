// Health signals in Redis, shared by all nodes.
import type { Clock } from '#lib/clock.ts'
import { healthSignalLimits } from '../ports/health-signals.ts'
import type { HealthSignal, HealthSignals } from '../ports/health-signals.ts'
import { orReject } from '../ports/store-result.ts'
import { readHash } from './read-hash.ts'
import { redisScript } from './redis.ts'
import type { Redis } from './redis.ts'

/**
 * KEYS: signals by entry, times by entry, number of sources by member and of signals by
 * `tenant:ID`. ARGV: entry, signal, its time, member, oldest time, most sources, most signals, life
 * of the keys, channel, tenant or '', most signals of a tenant.
 */
const postScript = redisScript(`
local function count(field, by)
  if redis.call('HINCRBY', KEYS[3], field, by) <= 0 then redis.call('HDEL', KEYS[3], field) end
end
local function forget(entry)
  local signal = redis.call('HGET', KEYS[1], entry)
  local tenant = signal and cjson.decode(signal).tenantId
  if tenant then count('tenant:' .. tenant, -1) end
end
local known = redis.call('ZSCORE', KEYS[2], ARGV[1])
if known and tonumber(known) > tonumber(ARGV[3]) then return 'replaced' end
if not known then
  local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[5], 'LIMIT', 0, 1000)
  for _, entry in ipairs(old) do
    forget(entry)
    redis.call('ZREM', KEYS[2], entry)
    redis.call('HDEL', KEYS[1], entry)
    count(cjson.decode(entry)[1], -1)
  end
  local sources = tonumber(redis.call('HGET', KEYS[3], ARGV[4]) or 0)
  if sources >= tonumber(ARGV[6]) then return 'full' end
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[7]) then return 'full' end
  local own = tonumber(redis.call('HGET', KEYS[3], 'tenant:' .. ARGV[10]) or 0)
  if own >= tonumber(ARGV[11]) then return 'full' end
  count(ARGV[4], 1)
end
forget(ARGV[1])
if ARGV[10] ~= '' then count('tenant:' .. ARGV[10], 1) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[8]) end
redis.call('PUBLISH', ARGV[9], ARGV[2])
return 'accepted'`)

const channel = 'health-signals'

export function createRedisHealthSignals(
  redis: Redis,
  clock: Clock,
  limits = healthSignalLimits,
): HealthSignals {
  const words = redis.key('health-signals', 'words')
  const keys = [words, redis.key('health-signals', 'times'), redis.key('health-signals', 'sources')]
  const oldestMs = (): number => clock.nowMs() - limits.keptMs
  const read = async (entries = '*'): Promise<readonly HealthSignal[]> => {
    const texts = [...(await readHash(redis, words, entries)).values()]
    const signals = texts.map((text) => JSON.parse(text) as HealthSignal)
    return signals.filter(({ postedAtMs }) => postedAtMs > oldestMs())
  }
  return {
    post: async (signal) => {
      const { memberUid, tenantId, source, healthy, score, postedAtMs, expiresAtMs } = signal
      const kept = { memberUid, tenantId, source, healthy, score, postedAtMs, expiresAtMs }
      const { sourcesPerMemberMax, perTenantMax, signalsMax, keptMs } = limits
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
          tenantId ?? '',
          `${perTenantMax}`,
        ]),
      )
      return reply as 'accepted' | 'replaced' | 'full'
    },
    load: () => read(),
    of: (memberUid) => read(entriesOf(memberUid)),
    subscribe: (handler) => {
      const hear = (text: string): void => handler(JSON.parse(text) as HealthSignal)
      const leave = redis.subscribe(channel, hear)
      // Signals missed during an outage are passed on now.
      const forget = redis.onUp(() => {
        read().then(
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

/** A pattern of Redis for the entries of a member, whose id is a UUID. */
const entriesOf = (memberUid: string): string => `\\[${JSON.stringify(memberUid)},*`
