// The row layouts of a bundle's tables: the cells of each row, and the bits in them.

/**
 * A row of `nodeRow`: what an answer needs of an owner name, with the service that it names and the
 * name itself where it is short, stands together in one cache line. `Target`: 0 none; a service,
 * index * 2 + 2; a host, index * 2 + 1.
 * The cells of a service are 0 elsewhere. `Pool`: index + 1; 0 none. `Algorithm`: the
 * `code` of a way. `InlineName`: zeros, then, up to the end of the row, the octets of a
 * name of at most `inlineNameBytes`.
 */
export const NodeCell = {
  Words: 16,
  NameOffset: 0,
  NameBytesAndFlags: 1,
  Zone: 2,
  Target: 3,
  Pool: 4,
  TtlSeconds: 5,
  Algorithm: 6,
  InlineName: 7,
} as const
/** What is left of the row. Most names are shorter; the others are compared in `names`. */
export const inlineNameBytes = (NodeCell.Words - NodeCell.InlineName) * 4
/** The count of the name's octets is in the low byte, the flags above it. */
export const nodeFlagShift = 8

export const NodeFlag = {
  /** The name is a zone apex. */
  Apex: 1,
  /** A `*` label stands directly below: RFC 4592 section 2.1.1. */
  HasWildcard: 2,
} as const

export const MemberFlag = { Enabled: 1 } as const
