// Sessions in Redis, shared by all nodes. Redis expires them, so the nodes' clocks do not matter.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { sessionLimits } from '../ports/sessions.ts'
import type { Session, SessionIdentity, Sessions } from '../ports/sessions.ts'
import type { StoreCall } from '../ports/store-result.ts'
import { redisScript } from './redis.ts'
import type { Redis } from './redis.ts'

/** How long the end of a user's sessions is remembered: as long as any session can live. */
const revocationKeptMs = 400 * 24 * 3_600_000

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`
/** KEYS: session, the user's list. */
const put = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[3])
local above = redis.call('ZCARD', KEYS[2]) - ARGV[4]
if above > 0 then
  local gone = redis.call('ZPOPMIN', KEYS[2], above)
  for i = 1, #gone, 2 do redis.call('DEL', ARGV[5] .. gone[i]) end
end
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return 1
`
const createScript = redisScript(now + put)

/** KEYS: session, the user's list, time of the end of the user's sessions. ARGV[6]: the age. */
const adoptScript = redisScript(`${now}
local ended = redis.call('GET', KEYS[3])
if ended and now - ended <= tonumber(ARGV[6]) then return 0 end
${put}`)

/** KEYS: session. ARGV: the new lifetime or nothing, prefix of a user's list. */
const findScript = redisScript(`${now}
local text = redis.call('GET', KEYS[1])
if not text then return false end
if ARGV[1] == '' then return { text, redis.call('PTTL', KEYS[1]) } end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
local list = ARGV[2] .. cjson.decode(text).userId
redis.call('ZADD', list, now + ARGV[1], ARGV[3])
if redis.call('PTTL', list) < tonumber(ARGV[1]) then redis.call('PEXPIRE', list, ARGV[1]) end
return { text, tonumber(ARGV[1]) }`)

/** KEYS: session. ARGV: prefix of a user's list, the hash. */
const revokeScript = redisScript(`
local text = redis.call('GET', KEYS[1])
if not text then return 0 end
redis.call('ZREM', ARGV[1] .. cjson.decode(text).userId, ARGV[2])
return redis.call('DEL', KEYS[1])`)

/**
 * KEYS: the user's list, time of their end. ARGV: prefix of a session, how long to remember it, how
 * long ago it was.
 */
const revokeUserScript = redisScript(`${now}
local count = 0
for _, hash in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  count = count + redis.call('DEL', ARGV[1] .. hash)
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], string.format('%.0f', now - ARGV[3]), 'PX', ARGV[2])
return count`)

export class RedisSessions implements Sessions {
  readonly #redis: Redis
  readonly #clock: Clock

  constructor(redis: Redis, clock: Clock) {
    this.#redis = redis
    this.#clock = clock
  }

  readonly create = async (
    tokenHash: string,
    identity: SessionIdentity,
    ttlMs: number,
  ): StoreCall<Session> => {
    const { userId, tenantId, role, createdAtMs } = identity
    const kept = { userId, tenantId, role, createdAtMs }
    const keys = [this.#session(tokenHash), this.#list(userId)]
    const words = this.#words(tokenHash, kept, ttlMs)
    const created = await this.#redis.run(createScript, keys, words)
    return created.ok ? ok({ ...kept, expiresAtMs: this.#clock.nowMs() + ttlMs }) : created
  }

  /**
   * Adds a session that began while Redis was away, unless its user's sessions were ended since.
   *
   * @param ageMs since its beginning
   */
  readonly adopt = async (
    tokenHash: string,
    identity: SessionIdentity,
    leftMs: number,
    ageMs: number,
  ): StoreCall<boolean> => {
    const { userId } = identity
    const keys = [this.#session(tokenHash), this.#list(userId), this.#ended(userId)]
    const words = [...this.#words(tokenHash, identity, leftMs), `${Math.max(0, Math.ceil(ageMs))}`]
    const adopted = await this.#redis.run(adoptScript, keys, words)
    return adopted.ok ? ok(adopted.value === 1) : adopted
  }

  readonly find = async (tokenHash: string, extendMs: number | null): StoreCall<Session | null> => {
    const words = [extendMs === null ? '' : `${Math.ceil(extendMs)}`, this.#list(''), tokenHash]
    const found = await this.#redis.run(findScript, [this.#session(tokenHash)], words)
    if (!found.ok) return found
    if (found.value === null) return ok(null)
    const [text, leftMs] = found.value as [string, number]
    const identity = JSON.parse(text) as SessionIdentity
    return ok({ ...identity, expiresAtMs: this.#clock.nowMs() + leftMs })
  }

  readonly revoke = async (tokenHash: string): StoreCall<boolean> => {
    const words = [this.#list(''), tokenHash]
    const revoked = await this.#redis.run(revokeScript, [this.#session(tokenHash)], words)
    return revoked.ok ? ok(revoked.value === 1) : revoked
  }

  /** @param agoMs time since the end: sessions that began later may be adopted */
  readonly revokeUser = async (userId: string, agoMs = 0): StoreCall<number> => {
    const keys = [this.#list(userId), this.#ended(userId)]
    const words = [this.#session(''), `${revocationKeptMs}`, `${Math.floor(agoMs)}`]
    const revoked = await this.#redis.run(revokeUserScript, keys, words)
    return revoked.ok ? ok(Number(revoked.value)) : revoked
  }

  #words(tokenHash: string, identity: SessionIdentity, ttlMs: number): string[] {
    const { perUserMax } = sessionLimits
    const text = JSON.stringify(identity)
    return [text, `${Math.ceil(ttlMs)}`, tokenHash, `${perUserMax}`, this.#session('')]
  }

  #session(tokenHash: string): string {
    return this.#redis.key('session', tokenHash)
  }

  #list(userId: string): string {
    return this.#redis.key('user-sessions', userId)
  }

  #ended(userId: string): string {
    return this.#redis.key('user-sessions-ended', userId)
  }
}
