// Nonces, WebSocket tokens and login attempts in Redis, shared by all nodes.
import { createHash } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { ok } from '#lib/result.ts'
import type { LoginAttempts } from '../ports/login-attempts.ts'
import { nonceLimits } from '../ports/oidc-nonces.ts'
import type { OidcNonces } from '../ports/oidc-nonces.ts'
import { webSocketTokenLimits } from '../ports/websocket-tokens.ts'
import type { WebSocketTokens } from '../ports/websocket-tokens.ts'
import { redisScript } from './redis.ts'
import type { Redis, RedisReply } from './redis.ts'

export function createRedisOidcNonces(redis: Redis): OidcNonces {
  const keyOf = (nonce: string): string => redis.key('oidc-nonce', hashOf(nonce))
  return {
    put: (nonce, value) => {
      assert(value.length <= nonceLimits.valueLengthMax, 'what a nonce stands for is short')
      return redis.tell('SET', keyOf(nonce), value, 'PX', `${nonceLimits.ttlMs}`)
    },
    take: async (nonce) => {
      const taken = await redis.command('GETDEL', keyOf(nonce))
      return taken.ok ? ok(taken.value as string | null) : taken
    },
  }
}

export function createRedisWebSocketTokens(redis: Redis): WebSocketTokens {
  return {
    claim: async (tokenId, ttlMs) => {
      const key = redis.key('websocket-token', hashOf(tokenId))
      const lifeMs = Math.max(1, Math.ceil(Math.min(ttlMs, webSocketTokenLimits.ttlMsMax)))
      const claimed = await redis.command('SET', key, '1', 'NX', 'PX', `${lifeMs}`)
      return claimed.ok ? ok(claimed.value !== null) : claimed
    },
  }
}

const recordScript = redisScript(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return { count, redis.call('PTTL', KEYS[1]) }`)

const countScript = redisScript(`
return { tonumber(redis.call('GET', KEYS[1]) or 0), redis.call('PTTL', KEYS[1]) }`)

export function createRedisLoginAttempts(redis: Redis): LoginAttempts {
  const keyOf = (key: string): string => redis.key('login-attempts', hashOf(key))
  const countOf = (reply: RedisReply) => {
    const [count, leftMs] = reply as readonly [number, number]
    return ok({ count, resetsInMs: Math.max(0, leftMs) })
  }
  return {
    record: async (key, windowMs) => {
      const life = `${Math.max(1, Math.ceil(windowMs))}`
      const recorded = await redis.run(recordScript, [keyOf(key)], [life])
      return recorded.ok ? countOf(recorded.value) : recorded
    },
    count: async (key) => {
      const counted = await redis.run(countScript, [keyOf(key)], [])
      return counted.ok ? countOf(counted.value) : counted
    },
    clear: (key) => redis.tell('DEL', keyOf(key)),
  }
}

/** Fixed length, and neither names nor secrets are readable. */
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
