// The port that counts failed logins, to slow down guessing.
import type { StoreCall } from './store-result.ts'

interface AttemptCount {
  readonly count: number
  /** Time until the count returns to zero; 0: it is zero. */
  readonly resetsInMs: number
}

export const loginAttemptLimits = { perNodeMax: 100_000 } as const

/** `key` identifies what is counted, such as an address or an account; any text. */
export interface LoginAttempts {
  /** Counts a failure. The window begins with the first failure and is not extended. */
  readonly record: (key: string, windowMs: number) => StoreCall<AttemptCount>
  readonly count: (key: string) => StoreCall<AttemptCount>
  /** Called after a login that succeeded. */
  readonly clear: (key: string) => StoreCall<void>
}
