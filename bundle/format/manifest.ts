// The manifest, the signed part of a bundle: its sections with their digests, and its source.
/** Rows of each table. */
export interface BundleCounts {
  readonly nodes: number
  readonly zones: number
  /** Rows that nodes share count once. */
  readonly rrsets: number
  readonly services: number
  readonly pools: number
  readonly members: number
  readonly responseRules: number
  readonly redirects: number
}

export interface Manifest {
  readonly format: number
  /** Version of the compiler; other versions may encode the same tree differently. */
  readonly compiler: string
  /** Commit in hex, or empty when the tree came from a directory. */
  readonly commit: string
  readonly counts: BundleCounts
  /** Start value of the name hash, chosen to keep probes short. */
  readonly nameSeed: number
  /** Labels of the deepest owner name or trigger. */
  readonly nameLabelsMax: number
  readonly sections: readonly ManifestSection[]
}

export interface ManifestSection {
  readonly name: string
  /** Offset from the start of the first section. */
  readonly offset: number
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
  /**
   * Only sections after those of `sectionSpecs` have it. True: a node that does not know the
   * section would answer wrongly and must refuse the bundle; false: it skips the section.
   */
  readonly mustUnderstand?: boolean
}
