// Limits of the journal: how often it is written, how much may wait, how large its parts get.

export const journalLimits = {
  /** What has changed is on disk this much later, at most. */
  flushMs: 1_000,
  /** A node to which nothing happens says this often that it is there. */
  aliveMs: 60_000,
  /** Pause after a write that failed. */
  retryMs: 10_000,
  /** Octets that wait for a slow disk; more are dropped, and a new segment begins. */
  queueBytesMax: 8 * 1_048_576,
  /** A segment begins with the whole state: a look at an instant reads one segment. */
  segmentMs: 3_600_000,
  segmentBytesMin: 65_536,
  segmentBytesMax: 4 * 1_048_576,
  /** A segment has at least this many times the octets of the state that it begins with. */
  segmentPerState: 8,
  /** A segment may fill this fraction of the journal's octets, within the other limits. */
  segmentsMin: 16,
  /** Segments that age removes at once: a clock that leaps ahead does not empty the journal. */
  agedPerRotation: 2,
  /** One record; a longer one is damaged. */
  recordBytesMax: 64 * 1_048_576,
  /** Wall clock and monotonic clock may part so far within a record. */
  driftMs: 2,
  /** Round trips that differ by less than this part, and this much, are as one. */
  rttPart: 1 / 16,
  rttMs: 0.5,
} as const

/** Limits of the copy that other nodes can read. */
export const copyLimits = {
  /** Octets of a part, where no record is longer. */
  partBytes: 262_144,
  /** With a longer record the segment is not copied from there on. */
  recordBytesMax: 2 * 1_048_576 - 16,
  /** In one look: what is behind is made up for over some of them. */
  bytesPerLook: 4 * 1_048_576,
  asksPerLook: 100,
  /** How often a segment is sent again to a control node that has less of it than it had. */
  backMax: 8,
  /** Pause after a copy that failed, doubled with each failure. */
  retryMs: 10_000,
  retryMsMax: 600_000,
  /** Segments that are read for one instant, about, and their octets. */
  readMax: 12,
  /** Nodes whose journals are read for one look at many. */
  nodesRead: 8,
  readBytesMax: 64 * 1_048_576,
} as const
