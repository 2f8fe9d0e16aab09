// The port to the installation's licence: one token, one install id, one trial.
import type { StoreCall } from './store-result.ts'

interface StoredLicence {
  readonly token: string
  /** Origin, such as `api`. */
  readonly source: string
  readonly savedAtMs: number
}

/** The way in which the trial was granted. */
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

/** `load` creates the record: call it first. */
export interface Licences {
  /** @param candidate becomes the install id unless there is one */
  readonly load: (candidate: string) => StoreCall<LicenceRecord>
  /** null removes it. */
  readonly saveLicence: (licence: StoredLicence | null) => StoreCall<void>
  /** Only the first trial is stored. @returns the stored one */
  readonly beginTrial: (trial: Trial) => StoreCall<Trial>
}
