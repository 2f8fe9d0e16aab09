// The port to the certificates of an ACME server, and to the state of their next orders.
export interface CertificateView {
  /** Its entry in `acme.certificates`; null: that of `acme.names`. */
  readonly entry: string | null
  readonly directory: string
  /** Names in the settings. */
  readonly names: readonly string[]
  /** null: there is no certificate yet. */
  readonly certificate: {
    readonly names: readonly string[]
    readonly notBeforeMs: number
    readonly notAfterMs: number
    readonly renewAtMs: number
    /** When the ACME server wants that; null: it does not say. RFC 9773. */
    readonly suggested: {
      readonly startMs: number
      readonly endMs: number
      /** Address of a page with the reason; null: none. */
      readonly why: string | null
    } | null
  } | null
  /** True: a node of the cluster is ordering it. */
  readonly isOrdering: boolean
  /** Why the last order failed; null: it did not. */
  readonly failure: {
    readonly code: string
    readonly message: string
    /** Failures in a row. */
    readonly count: number
    readonly atMs: number
    readonly nextMs: number
  } | null
  /** How far the clock of this node is ahead (+) of that of the ACME server; null: not known. */
  readonly clockOffsetMs: number | null
  /** A sentence why the stored certificate cannot be used; null: it can. */
  readonly fault: string | null
}

export interface Certificates {
  /** What the settings ask for. */
  readonly view: () => readonly CertificateView[]
}
