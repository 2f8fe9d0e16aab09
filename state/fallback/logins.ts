// Nonces, WebSocket tokens and login attempts in Redis; in memory while Redis is away.
import { ok } from '#lib/result.ts'
import type { LoginAttempts } from '../ports/login-attempts.ts'
import type { OidcNonces } from '../ports/oidc-nonces.ts'
import type { WebSocketTokens } from '../ports/websocket-tokens.ts'

/** Value of a nonce that was used here. */
const usedUp = '\0used'

/**
 * A nonce is valid once. It may be in either store or in both, since Redis may carry out a command
 * after its timeout. So nonces used here are remembered.
 */
export function withFallbackNonces(shared: OidcNonces, local: OidcNonces): OidcNonces {
  return {
    put: async (nonce, value) => {
      const put = await shared.put(nonce, value)
      return put.ok ? put : await local.put(nonce, value)
    },
    take: async (nonce) => {
      const here = await local.take(nonce)
      if (here.ok && here.value !== null) {
        await local.put(nonce, usedUp)
        return here.value === usedUp ? ok(null) : here
      }
      const taken = await shared.take(nonce)
      return taken.ok ? taken : ok(null)
    },
  }
}

/** Claims in both, so that a claim made while Redis is away counts when it is back. */
export function withFallbackTokens(
  shared: WebSocketTokens,
  local: WebSocketTokens,
): WebSocketTokens {
  return {
    claim: async (tokenId, ttlMs) => {
      const here = await local.claim(tokenId, ttlMs)
      if (!here.ok || !here.value) return here
      const claimed = await shared.claim(tokenId, ttlMs)
      return claimed.ok ? claimed : here
    },
  }
}

/** Counts in both; the larger count is used, so that a loss of Redis grants no new tries. */
export function withFallbackAttempts(shared: LoginAttempts, local: LoginAttempts): LoginAttempts {
  const larger = async (name: 'record' | 'count', key: string, windowMs: number) => {
    const here = await local[name](key, windowMs)
    const there = await shared[name](key, windowMs)
    if (!there.ok || !here.ok) return here
    return here.value.count > there.value.count ? here : there
  }
  return {
    record: (key, windowMs) => larger('record', key, windowMs),
    count: (key) => larger('count', key, 0),
    clear: async (key) => {
      await local.clear(key)
      await shared.clear(key)
      return ok(undefined)
    },
  }
}
