// Defines the port to a BGP daemon on this machine, which announces and withdraws the routes.
import type { Result } from '#lib/result.ts'

export interface DriverReply {
  /** Which routes the daemon announces; null: it cannot be asked. */
  readonly announces: 'all' | 'some' | 'none' | null
  /** The reply of the daemon, one line. */
  readonly text: string
}

/**
 * Commands for a BGP daemon. Each call ends within a few seconds. Errors: a sentence for the
 * operator.
 */
export interface AnycastDriver {
  /** Announces the routes; does nothing when they are announced already. */
  readonly announce: () => Promise<Result<DriverReply, string>>
  /** Withdraws the routes; does nothing when they are not announced. */
  readonly withdraw: () => Promise<Result<DriverReply, string>>
  /** Reads the state without changing it. */
  readonly look: () => Promise<Result<DriverReply, string>>
}
