// The port to the certificate that an ACME server gives, and to its account there. All control
// nodes of an installation share them.
import type { StoreCall } from './store-result.ts'

export interface StoredCertificate {
  /** Another one after each change; from 1. */
  readonly version: number
  /** Sealed under GSLB_SECRET_KEY: the account, the certificate with its key, and what failed. */
  readonly sealed: string
}

export const certificateLimits = {
  /** Characters: a chain of ten certificates with a hundred names, sealed. */
  sealedMax: 600_000,
} as const

export interface CertificateStore {
  /** `stored` is null: nothing ever was. `nowMs` is the clock of the database. */
  readonly load: () => StoreCall<{
    readonly stored: StoredCertificate | null
    readonly nowMs: number
  }>
  /**
   * Replaces it where nobody else did so meanwhile: of two nodes that begin to renew at once, one
   * is told `changed-meanwhile`.
   *
   * @param version of what the new one was made of; 0: there was none
   * @returns the version of the new one
   */
  readonly swap: (
    version: number,
    sealed: string,
    nowMs: number,
  ) => StoreCall<number, 'changed-meanwhile'>
}
