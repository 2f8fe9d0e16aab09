// Defines the port by which the API shows and changes the licence.
import type { Result } from '#lib/result.ts'
import type { LicenceState } from './state.ts'

export interface LicenceAdmin {
  /** The current state; reads the database at the first call, unless that is being made. */
  readonly current: () => Promise<LicenceState>
  /** Verifies a token, stores it for all nodes and applies it here at once. */
  readonly apply: (token: string) => Promise<Result<LicenceState, LicenceRefusal>>
}

/** `token`: it is not valid here. `store`: it cannot be stored now. `starting`: not yet. */
export interface LicenceRefusal {
  readonly code: 'token' | 'store' | 'starting'
  readonly message: string
}
