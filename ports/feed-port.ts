// Defines the port to the feed: room for one more client, and the tokens that open it.
import type { Result } from '#lib/result.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'
import { maySee } from '#access/caller.ts'
import type { Caller } from '#access/caller.ts'
import type { Obstacle } from '#access/unread.ts'
import type { CredentialMark } from '#access/auth/authenticator.ts'
import type { FeedSocket } from '#http/feed-socket.ts'

/** null: the credential is no longer valid. */
export type AskCaller = () => Promise<Caller | Obstacle | null>

export interface Arrival {
  readonly caller: Caller
  /** Asks whether the credential still grants what it did. */
  readonly ask: AskCaller
  /** Up to where the client has everything; null: it has nothing. */
  readonly revision: string | null
}

export interface FeedPort {
  /** Why there is no room for one more client; null: there is. */
  readonly whyFull: (caller: Caller | null) => string | null
  /**
   * Starts to record events. A handler that connects a client calls it before it reads anything, so
   * that no event is missed, and not before the configuration was read.
   */
  readonly listen: () => void
  readonly accept: (socket: FeedSocket, arrival: Arrival) => void
}

export interface FeedTokenPort {
  /** @returns the token and its end, Unix epoch */
  readonly issue: (mark: CredentialMark) => Promise<{ token: string; expiresAtMs: number }>
  /** Returns the owner of a token; null: it is not valid. An unused token stays valid. */
  readonly markOf: (token: string) => Promise<CredentialMark | null>
  /** Uses the token up. Errors: null: it is not valid; or the store of used tokens is away. */
  readonly redeem: (token: string) => Promise<Result<CredentialMark, StoreFailure | null>>
}

/** Whether the caller may follow the feed: a snapshot, then its changes. */
export const mayFollow = (caller: Caller): boolean => maySee(caller, 'snapshot:read')
