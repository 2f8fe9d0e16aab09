// Limits of the journal: how often it is written, how much may wait, how large its parts get.

export const journalLimits = {
  /** The longest time until a change is on disk. */
  flushMs: 1_000,
  /** Interval of records by which an unchanged node shows that it lives. */
  aliveMs: 60_000,
  /** Pause after a write that failed. */
  retryMs: 10_000,
  /** Octets that wait for a slow disk; further ones are dropped, and a new segment begins. */
  queueBytesMax: 8 * 1_048_576,
  /** Length of a segment, which begins with the whole state: an instant needs one segment. */
  segmentMs: 3_600_000,
  segmentBytesMin: 65_536,
  segmentBytesMax: 4 * 1_048_576,
  /** The least size of a segment, in multiples of the state that it begins with. */
  segmentPerState: 8,
  /** A segment may have this fraction of the journal's octets, within the other limits. */
  segmentsMin: 16,
  /** Segments that age removes at once: a clock that leaps ahead must not empty the journal. */
  agedPerRotation: 2,
  /** Octets of a record; a longer one is damaged. */
  recordBytesMax: 64 * 1_048_576,
  /** How far the wall clock and the monotonic clock may part within a record. */
  driftMs: 2,
  /** Round trips count as equal when they differ by less than this part, and this much. */
  rttPart: 1 / 16,
  rttMs: 0.5,
} as const

/** Limits on the copy for other nodes. */
export const copyLimits = {
  /** Octets of a part, unless a record is longer. */
  partBytes: 262_144,
  /** At a longer record the copy of the segment ends. */
  recordBytesMax: 2 * 1_048_576 - 16,
  /** Octets for one look; more are copied over several looks. */
  bytesPerLook: 4 * 1_048_576,
  asksPerLook: 100,
  /** How often a segment is sent again to a control node that has lost some of it. */
  backMax: 8,
  /** Pause after a failed copy, doubled with each failure. */
  retryMs: 10_000,
  retryMsMax: 600_000,
  /** Segments that are read for one instant, and their octets. */
  readMax: 12,
  /** Nodes whose journals are read for one question about many. */
  nodesRead: 8,
  readBytesMax: 64 * 1_048_576,
} as const
