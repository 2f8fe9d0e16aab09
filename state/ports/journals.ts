// The port to copies of all nodes' journals, with which any node explains each answer.
import type { StoreCall } from './store-result.ts'

/** Identifies a segment, a file of a journal: its number within the process that wrote it. */
export interface SegmentName {
  readonly node: string
  /** Random, chosen at the start of the process. */
  readonly run: string
  readonly number: number
}

/** Octets of a segment that follow the stored ones, and facts about their records. */
export interface SegmentPart extends SegmentName {
  /** Offset in the segment. */
  readonly at: number
  readonly octets: Uint8Array
  /** Earliest and latest time of a record, Unix epoch, by the clock of the node. */
  readonly fromMs: number
  readonly toMs: number
  /** A bundle becomes active in them. */
  readonly hasSwap: boolean
  /** Time of storing, Unix epoch. */
  readonly storedMs: number
}

export interface StoredSegment {
  readonly run: string
  readonly number: number
  readonly bytes: number
  readonly fromMs: number
  readonly toMs: number
  readonly hasSwap: boolean
}

export interface JournalNode {
  readonly node: string
  readonly fromMs: number
  readonly toMs: number
  readonly bytes: number
}

/** Bounds for `prune`. */
export interface KeptJournals {
  /** Segments without additions since then are removed. */
  readonly sinceMs: number
  /**
   * Limits for one node and for all: the oldest segments are removed, as are those above
   * `segmentsKept`.
   */
  readonly nodeBytesMax: number
  readonly bytesMax: number
}

export const journalCopyLimits = {
  /** Octets of one part. */
  partBytesMax: 2 * 1_048_576,
  /** Longer segments are truncated. */
  segmentBytesMax: 64 * 1_048_576,
  /** Segments of a node: two an hour for a month, and the restarts. More are refused. */
  segmentsMax: 2_000,
  /** Segments of a node after `prune`, so that new ones find room, however often it restarts. */
  segmentsKept: 1_800,
  nodesMax: 1_000,
  /** Octets of all nodes: on a database server, and in the embedded database. */
  serverBytesMax: 4 * 1_073_741_824,
  embeddedBytesMax: 256 * 1_048_576,
} as const

export interface Journals {
  /**
   * Adds a part at the end of the segment. Without octets nothing is added.
   *
   * @returns octets of the segment now: not `at` plus the length, when the part was not added
   */
  readonly append: (part: SegmentPart) => StoreCall<number>
  /** Segments of one process by number; processes by their newest record, newest first. */
  readonly segmentsOf: (node: string) => StoreCall<readonly StoredSegment[]>
  readonly octetsOf: (segment: SegmentName) => StoreCall<Uint8Array>
  /** By name. */
  readonly nodes: () => StoreCall<readonly JournalNode[]>
  /** @returns the number of removed segments */
  readonly prune: (kept: KeptJournals) => StoreCall<number>
}
