// The port by which the API shows and changes the licence.
import type { Result } from '#lib/result.ts'
import type { LicenceState } from './state.ts'

export interface LicenceAdmin {
  /** As it is now; reads the database at the first call, unless that is still being made. */
  readonly current: () => Promise<LicenceState>
  /** Checks a token, keeps it for all nodes and applies it here at once. */
  readonly apply: (token: string) => Promise<Result<LicenceState, LicenceRefusal>>
}

/** `token`: it does not count here. `store`: it cannot be kept now. `starting`: not yet. */
export interface LicenceRefusal {
  readonly code: 'token' | 'store' | 'starting'
  readonly message: string
}
