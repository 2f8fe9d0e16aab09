// The port to the licence of the installation: one token, one install id, one trial.
import type { StoreCall } from './store-result.ts'

export interface StoredLicence {
  readonly token: string
  /** Where it came from, such as `api`. */
  readonly source: string
  readonly savedAtMs: number
}

/** How the trial came about. */
export type TrialKind = 'online' | 'grace' | 'offline'

export interface Trial {
  readonly kind: TrialKind
  readonly startedAtMs: number
  readonly expiresAtMs: number
}

export interface LicenceRecord {
  /** 32 hexadecimal digits, made once and shared by all nodes. */
  readonly installId: string
  readonly licence: StoredLicence | null
  readonly trial: Trial | null
}

/** `load` makes the record: call it before the others. */
export interface Licences {
  /** @param candidate becomes the install id if there is none yet */
  readonly load: (candidate: string) => StoreCall<LicenceRecord>
  /** null removes it. */
  readonly saveLicence: (licence: StoredLicence | null) => StoreCall<void>
  /** Kept when it is the first. @returns the one that counts */
  readonly beginTrial: (trial: Trial) => StoreCall<Trial>
}
