// Limits of bundles that travel: sizes, times and counts.
import { bundleLimits } from '#bundle/format/limits.ts'

export const fleetLimits = {
  /** Size of a signed channel record, as JSON. */
  recordBytesMax: 16_384,
  bundleBytesMax: bundleLimits.bytesMax,
  /** What a node asks a source to wait for a change. */
  waitSecondsMax: 25,
  /** The same for a node that reports: its absence is to be noticed within half a minute. */
  reportWaitSeconds: 10,
  /** A source that takes reports and answers faster is asked like a plain one. */
  reportMsMin: 500,
  /** Requests of one control node that wait for a change; more are 503. */
  waitersMax: 1_000,
  /** Bundles that one control node sends at once; more are 503. */
  transfersMax: 32,
  /** A source that is busy is not asked for as long as it says, up to this. */
  retryAfterMsMax: 300_000,
  /** After that it is asked for what there is now, without waiting for a change, so many times. */
  plainAsksWhenBusy: 10,
  /** A source that refused a report is sent none for so long. */
  reportRestMs: 600_000,
  /** For a control node to take what an agent finds. */
  wordsPatienceMs: 5_000,
  /** How long a node that stops tries to tell so. */
  leavePatienceMs: 1_000,
  /** Deltas that are kept, their octets, and how many may wait to be made. */
  deltasMax: 8,
  deltaCacheBytes: 96 * 1024 * 1024,
  deltasPendingMax: 4,
  /** Until the head of an answer, beyond the time that the source was asked to wait. */
  headPatienceMs: 10_000,
  /** Octets of a body on the wire beyond what it becomes: frames, and what does not compress. */
  wireSlackBytes: 1_048_576,
  /** RFC 9659: what a client has to take, and no more. */
  zstdWindowLog: 23,
  /** A bundle to compute with has no record: it may have twice what serves, and this. */
  shadowSlackBytes: 64 * 1024 * 1024,
  /** A whole body has the time that its size takes at this rate, within bounds. */
  body: { bytesPerSecond: 65_536, leastMs: 60_000, mostMs: 3_600_000 },
  /** A body that brings less than this in a window is given up. */
  rate: { windowMs: 10_000, bytesMin: 20_480 },
  /**
   * A source that is older than what serves is behind, as one of several control nodes may be;
   * after so long it counts as one that goes back.
   */
  behindMsMax: 60_000,
  /** Rest of a source that has failed: doubled with each failure, half of it by chance. */
  rest: { firstMs: 1_000, mostMs: 60_000 },
} as const
