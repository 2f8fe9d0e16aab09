// The port to used WebSocket tokens: each opens one connection.
import type { StoreCall } from './store-result.ts'

export const webSocketTokenLimits = { ttlMsMax: 3_600_000, perNodeMax: 100_000 } as const

export interface WebSocketTokens {
  /**
   * @param tokenId the token's unique id (`jti`)
   * @param ttlMs the rest of the token's life
   * @returns true for the first claim on any node
   */
  readonly claim: (tokenId: string, ttlMs: number) => StoreCall<boolean>
}
