// The port to a BGP daemon on this machine: it announces the routes, and takes them back.
import type { Result } from '#lib/result.ts'

export interface DriverReply {
  /** What the daemon says of the routes; null: it cannot be asked. */
  readonly announces: 'all' | 'some' | 'none' | null
  /** In the words of the daemon, one line. */
  readonly text: string
}

/** Each call ends within a few seconds. Errors: a sentence for the operator. */
export interface AnycastDriver {
  /** Does nothing where the routes are announced already. */
  readonly announce: () => Promise<Result<DriverReply, string>>
  /** Does nothing where they are not. */
  readonly withdraw: () => Promise<Result<DriverReply, string>>
  /** Changes nothing. */
  readonly look: () => Promise<Result<DriverReply, string>>
}
