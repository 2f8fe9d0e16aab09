// Used WebSocket tokens in memory.
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { webSocketTokenLimits } from '../ports/websocket-tokens.ts'
import type { WebSocketTokens } from '../ports/websocket-tokens.ts'
import { ExpiringMap } from './expiring-map.ts'

export function createMemoryWebSocketTokens(clock: Clock): WebSocketTokens {
  const { perNodeMax, ttlMsMax } = webSocketTokenLimits
  const claimed = new ExpiringMap<true>(clock, perNodeMax)
  return {
    claim: async (tokenId, ttlMs) => {
      if (claimed.get(tokenId) !== undefined) return ok(false)
      claimed.set(tokenId, true, Math.min(ttlMs, ttlMsMax))
      return ok(true)
    },
  }
}
