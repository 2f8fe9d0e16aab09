// Defines the result of reading a zone file: records, and faults with their places.

export interface ZoneRecord {
  /** Wire form, letter case as written. */
  readonly owner: Uint8Array
  readonly ttl: number
  readonly type: number
  readonly rdata: Uint8Array
}

export interface ZonePlace {
  readonly path: string
  readonly line: number
  readonly column: number
}

export interface ZoneFault extends ZonePlace {
  /** A sentence for people. */
  readonly message: string
}

/** Bounds of one zone, so that time and memory are bounded; the TTL is that of RFC 2181. */
export const zoneFileLimits = {
  ttlMax: 2 ** 31 - 1,
  /** Octets of all files of the zone. */
  bytesMax: 256 * 1024 * 1024,
  recordsMax: 5_000_000,
  /** Names and rdata of all records; one $GENERATE can make 64 MiB of a line. */
  recordBytesMax: 1024 * 1024 * 1024,
  faultsMax: 100,
  /** Distinct types among records that are left out. */
  typesLeftOutMax: 100,
  typeCharactersMax: 32,
  includeDepthMax: 8,
  includesMax: 256,
  tokensOfRecordMax: 70_000,
  generateCountMax: 65_536,
  generateTextMax: 1_024,
  generateWidthMax: 255,
} as const
