// Limits on geo databases: file size, memory and time.

export const geoLimits = {
  /** The largest databases have about 1.5 GiB; a larger Buffer is not possible everywhere. */
  fileBytesMax: 2_000_000_000,
  /** Rows of a range table, both families together; 20 octets each for IPv6. */
  networksMax: 32_000_000,
  /** From the format's specification, section "Database Metadata". */
  metadataBytesMax: 131_072,
  /** Depth of nested maps and lists. */
  depthMax: 64,
  /** Values of one record, skipped ones included. */
  recordValuesMax: 65_536,
  /**
   * Values read for each octet of the data section. Records overlap where they share parts, but
   * only wanted parts are read: real databases need less than one.
   */
  valuesPerOctetMax: 16,
  /** Visits for each node of the search tree: one, unless parts of it are shared. */
  visitsPerNodeMax: 16,
  /** Distinct records; each is decoded once. */
  recordsMax: 16_000_000,
  /** A longer name is cut. */
  organisationCharsMax: 256,
  /** Interval of checks for changed files. */
  pollMs: 2_000,
  /** A file that changes during a read is read again, so many times. */
  readAttemptsMax: 3,
  /** Time for a load, which fails after it. */
  loadMsMax: 300_000,
  workerHeapMbMax: 4_096,
} as const
