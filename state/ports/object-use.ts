// The port to what was used and when: names, members, how often members changed, and since when
// each node tells.
import type { StoreCall } from './store-result.ts'

/** `name www.example.com.`, `member UID`, or `rule UID` of a response rule or redirect. */
export type UseKey = string

export interface UseReport {
  /** This node's name. */
  readonly node: string
  readonly nowMs: number
  /** Used since the last report. */
  readonly used: readonly UseKey[]
  /** In the configuration since the last report. */
  readonly seen: readonly UseKey[]
  /** Not in the configuration any more. */
  readonly gone: readonly UseKey[]
  /** Changes of health that this node's probes have found since the last report, by member. */
  readonly changes: ReadonlyMap<string, number>
  /** The node stops: whatever it has answered is in this report. */
  readonly isLast: boolean
}

export interface ObjectUse {
  /** When it was first in the configuration, Unix epoch. */
  readonly seenMs: number
  /** null: not since then. To a few minutes in the day it was used last. */
  readonly usedMs: number | null
}

export interface NodeUse {
  readonly node: string
  /** It has told of all its answers since then, Unix epoch. */
  readonly sinceMs: number
  /** Its last report. */
  readonly untilMs: number
  /** It has stopped since then. */
  readonly isStopped: boolean
}

export interface UseRecord {
  readonly nodes: readonly NodeUse[]
  readonly objects: ReadonlyMap<UseKey, ObjectUse>
  /** By member, the most that one node has found; other nodes have seen the same. */
  readonly changes: ReadonlyMap<string, number>
}

export const useLimits = {
  /** From a report to the next one; a longer silence without a stop: answers may not be known. */
  silentMsMax: 3_600_000,
  /** Changes of members are known for so many days. */
  changesKeptDays: 31,
  /** How long the use of a node that is gone, or of an object that nothing names, is kept. */
  keptMs: 400 * 24 * 3_600_000,
} as const

export interface ObjectUses {
  readonly report: (report: UseReport) => StoreCall<void>
  /** All keys there are. */
  readonly keys: () => StoreCall<readonly UseKey[]>
  /** @param fromMs changes of members count from then on */
  readonly read: (fromMs: number) => StoreCall<UseRecord>
}
