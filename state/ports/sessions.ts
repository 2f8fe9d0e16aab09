// The port to login sessions. Holds hashes of tokens, never a token.
import type { StoreCall } from './store-result.ts'

export interface SessionIdentity {
  readonly userId: string
  readonly tenantId: string
  readonly role: string
  /** Unix epoch. */
  readonly createdAtMs: number
}

export interface Session extends SessionIdentity {
  readonly expiresAtMs: number
}

export const sessionLimits = { perUserMax: 1_000, perNodeMax: 100_000 } as const

/** `tokenHash`: SHA-256 of the token, 64 hexadecimal digits. */
export interface Sessions {
  /** Above `perUserMax` the user's session with the earliest expiry is ended. */
  readonly create: (
    tokenHash: string,
    identity: SessionIdentity,
    ttlMs: number,
  ) => StoreCall<Session>
  /** @param extendMs new lifetime from now; null: unchanged */
  readonly find: (tokenHash: string, extendMs: number | null) => StoreCall<Session | null>
  /** Ends a session on all nodes. @returns whether it existed */
  readonly revoke: (tokenHash: string) => StoreCall<boolean>
  /** Ends all sessions of a user on all nodes. @returns the number known to have ended */
  readonly revokeUser: (userId: string) => StoreCall<number>
}
