// The port to the certificate that an ACME server gives: what there is, and how the next one does.
export interface CertificateView {
  readonly directory: string
  /** What the settings ask for. */
  readonly names: readonly string[]
  /** null: there is none yet. */
  readonly certificate: {
    readonly names: readonly string[]
    readonly notBeforeMs: number
    readonly notAfterMs: number
    readonly renewAtMs: number
    /** When the ACME server wants that; null: it does not say. RFC 9773. */
    readonly suggested: {
      readonly startMs: number
      readonly endMs: number
      /** Address of a page; null: it names none. */
      readonly why: string | null
    } | null
  } | null
  /** A node of the cluster is getting one. */
  readonly isOrdering: boolean
  /** Why the last try failed; null: it did not. */
  readonly failure: {
    readonly code: string
    readonly message: string
    /** In a row. */
    readonly count: number
    readonly atMs: number
    readonly nextMs: number
  } | null
  /** How far the clock of this node is ahead (+) of that of the ACME server; null: not known. */
  readonly clockOffsetMs: number | null
  /** Why what is stored cannot be used, a sentence; null: it can. */
  readonly fault: string | null
}

export interface Certificates {
  /** null: the settings ask for none. */
  readonly view: () => CertificateView | null
}
