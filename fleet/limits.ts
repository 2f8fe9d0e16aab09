// Limits on bundles between nodes: sizes, times and counts.
import { bundleLimits } from '#bundle/format/limits.ts'

export const fleetLimits = {
  /** Octets of a signed channel record as JSON. */
  recordBytesMax: 16_384,
  bundleBytesMax: bundleLimits.bytesMax,
  /** How long a source is asked to wait for a change. */
  waitSecondsMax: 25,
  /** The same for a node that reports: its absence is to be noticed within half a minute. */
  reportWaitSeconds: 10,
  /** A source that takes reports and answers faster is asked without one. */
  reportMsMin: 500,
  /** Requests that wait for a change on a control node; further ones get 503. */
  waitersMax: 1_000,
  /** Bundles that a control node sends at once; further ones get 503. */
  transfersMax: 32,
  /** The longest time that a busy source can ask for. */
  retryAfterMsMax: 300_000,
  /** After that, how many requests ask for the current state, without waiting for a change. */
  plainAsksWhenBusy: 10,
  /** Time in which a source that refused a report gets none. */
  reportRestMs: 600_000,
  /** Time for a control node to take an agent's findings. */
  wordsPatienceMs: 5_000,
  /** How long a node that stops tries to say so. */
  leavePatienceMs: 1_000,
  /** Deltas that are kept, their octets, and how many may wait to be made. */
  deltasMax: 8,
  deltaCacheBytes: 96 * 1024 * 1024,
  deltasPendingMax: 4,
  /** Time until the head of a response, beyond the wait that was asked for. */
  headPatienceMs: 10_000,
  /** Octets of a body on the wire beyond its decompressed size: frames, and incompressible data. */
  wireSlackBytes: 1_048_576,
  /** RFC 9659: the window that each client has to support. */
  zstdWindowLog: 23,
  /** A bundle to compute with has no record: it may have twice the active one's size, and this. */
  shadowSlackBytes: 64 * 1024 * 1024,
  /** Time for a whole body: its size at this rate, within bounds. */
  body: { bytesPerSecond: 65_536, leastMs: 60_000, mostMs: 3_600_000 },
  /** A body slower than this is given up. */
  rate: { windowMs: 10_000, bytesMin: 20_480 },
  /**
   * A source may have an older bundle than the active one, as one of several control nodes does for
   * a moment; after so long it is refused as a rollback.
   */
  behindMsMax: 60_000,
  /** Pause of a failed source: doubled with each failure, half of it random. */
  rest: { firstMs: 1_000, mostMs: 60_000 },
} as const
