// Limits on geo databases: file size, memory and time.

export const geoLimits = {
  /** The largest on the market have about 1.5 GiB; more does not fit a Buffer everywhere. */
  fileBytesMax: 2_000_000_000,
  /** Rows of a range table, both families together; 20 octets each for IPv6. */
  networksMax: 32_000_000,
  /** From the format's specification, section "Database Metadata". */
  metadataBytesMax: 131_072,
  /** Maps and lists inside each other. */
  depthMax: 64,
  /** Values that one record may have, also those that are skipped. */
  recordValuesMax: 65_536,
  /**
   * Values read from the data section, per octet of it. Records overlap where they point to common
   * parts, but only wanted parts are followed: real databases need less than one.
   */
  valuesPerOctetMax: 16,
  /** Visits of the search tree, per node. One, unless parts of the tree are shared. */
  visitsPerNodeMax: 16,
  /** Different records; each is decoded once. */
  recordsMax: 16_000_000,
  /** A longer name is cut. */
  organisationCharsMax: 256,
  /** How often a file is looked at. */
  pollMs: 2_000,
  /** A file that changes while it is read is read again, this often before it is given up. */
  readAttemptsMax: 3,
  /** A load that takes longer is ended, and counts as failed. */
  loadMsMax: 300_000,
  workerHeapMbMax: 4_096,
} as const
