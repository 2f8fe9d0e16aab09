// The port to copies of the journals of all nodes, by which any of them explains each answer.
import type { StoreCall } from './store-result.ts'

/** A file of a journal: its number, within the process that wrote it. */
export interface SegmentName {
  readonly node: string
  /** Chosen by chance when the process starts. */
  readonly run: string
  readonly number: number
}

/** Octets of a segment that follow those before it, and what their records say. */
export interface SegmentPart extends SegmentName {
  /** Where in the segment they begin. */
  readonly at: number
  readonly octets: Uint8Array
  /** The earliest and the latest time of a record, Unix epoch, by the clock of the node. */
  readonly fromMs: number
  readonly toMs: number
  /** A bundle begins to answer in them. */
  readonly hasSwap: boolean
  /** When it is stored, Unix epoch. */
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

/** What stays after `prune`. */
export interface KeptJournals {
  /** Segments to which nothing was added since go. */
  readonly sinceMs: number
  /** Limits for one node, and for all: the oldest segments go, as do any past `segmentsKept`. */
  readonly nodeBytesMax: number
  readonly bytesMax: number
}

export const journalCopyLimits = {
  /** Octets of one part. */
  partBytesMax: 2 * 1_048_576,
  /** A longer one is not kept to its end. */
  segmentBytesMax: 64 * 1_048_576,
  /** Segments of a node: two an hour for a month, and the restarts. More are not taken. */
  segmentsMax: 2_000,
  /** Segments of a node after `prune`: new ones find room, however often it starts again. */
  segmentsKept: 1_800,
  nodesMax: 1_000,
  /** Octets of all nodes together: on a database server, and in a node's own file. */
  serverBytesMax: 4 * 1_073_741_824,
  embeddedBytesMax: 256 * 1_048_576,
} as const

export interface Journals {
  /**
   * Adds a part where the segment ends. Without octets nothing is added.
   *
   * @returns octets that there are of the segment now: other than `at` and its length, when it was
   *   not added
   */
  readonly append: (part: SegmentPart) => StoreCall<number>
  /** Segments of one process go by number, and processes by their newest record, newest first. */
  readonly segmentsOf: (node: string) => StoreCall<readonly StoredSegment[]>
  readonly octetsOf: (segment: SegmentName) => StoreCall<Uint8Array>
  /** By name. */
  readonly nodes: () => StoreCall<readonly JournalNode[]>
  /** @returns how many segments it has removed */
  readonly prune: (kept: KeptJournals) => StoreCall<number>
}
