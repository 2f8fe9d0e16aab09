// Defines the row layouts of a bundle's tables: the cells of each row, and the bits in them.

/**
 * A row of `nodeRow`: all that an answer needs of an owner name, its service, and the name itself
 * where it is short, in one cache line. `Service`: index + 1; 0 none. Without a service its other
 * cells are 0. `Pool`: index + 1; 0 none. `Algorithm`: the `code` of a way. `FirstRrset`: row in
 * `rrsetRow`. `InlineName`: zeros, then, up to the end of the row, the octets of a name of at most
 * `inlineNameBytes`.
 */
export const NodeCell = {
  Words: 16,
  NameOffset: 0,
  NameBytesAndFlags: 1,
  Zone: 2,
  Service: 3,
  Pool: 4,
  TtlSeconds: 5,
  Algorithm: 6,
  FirstRrset: 7,
  InlineName: 8,
} as const
/** Octets left in the row. Most names are shorter; longer ones are compared in `names`. */
export const inlineNameBytes = (NodeCell.Words - NodeCell.InlineName) * 4
/** The low byte has the length of the name, then come the flags, then the number of rrsets. */
export const nodeFlagShift = 8
export const rrsetCountShift = 16

/** A name without any flag from `Cut` on is answered from its own row alone. */
export const NodeFlag = {
  /** The name is a zone apex. */
  Apex: 1,
  /** A `*` label stands directly below: RFC 4592 section 2.1.1. */
  HasWildcard: 2,
  /** The name has a DNAME record: names below it are redirected. RFC 6672. */
  Dname: 4,
  /** A delegated zone begins here: the name has NS records and is no apex of this bundle. */
  Cut: 8,
  /** The name is below a cut or a DNAME record of its zone; for an apex: of the parent zone. */
  Below: 16,
  HasCname: 32,
  /** Its service answers every type with an alias. */
  Alias: 64,
  /** The zone of this apex is signed; see bundle/load/zone-signing.ts. */
  Signed: 128,
} as const

export const MemberFlag = {
  Enabled: 1,
  /** The row is a slot for an address of a host name; see hostnames.ts. */
  Resolved: 2,
  /** The answer is an alias of its host name. */
  Alias: 4,
} as const

/** A row of `memberExtra`; rows are sorted by member, and most members have none. */
export const MemberExtraCell = {
  Words: 4,
  Member: 0,
  WarmupThreshold: 1,
  RumUrl: 2,
  Mode: 3,
} as const

/** A row of `rolloutRow`, in the order of the uids. `Text`: canonical JSON of a RolloutText. */
export const RolloutCell = { Words: 2, Member: 0, Text: 1 } as const
/** A row of `windowRow`. `Member`: index + 1; 0: each member of the pool. */
export const WindowCell = { Words: 3, Pool: 0, Member: 1, Text: 2 } as const

/**
 * A row of `responseRow`. `Trigger` and `Target` are offsets in `responseNames`. `Bits`, from the
 * lowest: 8 bits for the length of the trigger, 8 for that of the target (0: none), 1 that is set
 * for a domain, 2 for the action.
 */
export const ResponseCell = { Words: 4, Trigger: 0, Target: 1, Bits: 2, Source: 3 } as const
