// The port to the feed: a place for one more client, and the tokens that open it.
import type { Result } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { maySee } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import type { Obstacle } from '#access/unread.ts'
import type { CredentialMark } from '#access/auth/authenticator.ts'
import type { FeedSocket } from '#http/feed-socket.ts'

/** null: it is worth nothing any more. */
export type AskCaller = () => Promise<Caller | Obstacle | null>

export interface Arrival {
  readonly caller: Caller
  /** Whether the credential is still worth what it was. */
  readonly ask: AskCaller
  /** Up to where the client has everything; null: it has nothing. */
  readonly revision: string | null
}

export interface FeedPort {
  /** Why there is no place for one more client; null: there is. */
  readonly whyFull: (caller: Caller | null) => string | null
  /**
   * Starts to record events. A handler that connects a client calls it before it reads anything, so
   * that no event is missed, and not before the configuration has been read.
   */
  readonly listen: () => void
  readonly accept: (socket: FeedSocket, arrival: Arrival) => void
}

export interface FeedTokenPort {
  /** @returns the token and when it ends, Unix epoch */
  readonly issue: (mark: CredentialMark) => Promise<{ token: string; expiresAtMs: number }>
  /** Whose it is; null: it is worth nothing. It stays good, if it was not used before. */
  readonly markOf: (token: string) => Promise<CredentialMark | null>
  /**
   * Uses it up. Errors: null, the token is worth nothing; or the store that knows the used ones is
   * away.
   */
  readonly redeem: (token: string) => Promise<Result<CredentialMark, StoreFailure | null>>
}

/** The feed begins with a snapshot, and goes on with what would change it. */
export const mayFollow = (caller: Caller): boolean => maySee(caller, 'snapshot:read')
