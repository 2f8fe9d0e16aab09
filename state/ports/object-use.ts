// The port to the use of objects: when names and members were last used, how often members changed,
// and since when each node reports.
import type { StoreCall } from './store-result.ts'

/** `name www.example.com.`, `member UID`, or `rule UID` of a response rule or redirect. */
export type UseKey = string

export interface UseReport {
  /** This node's name. */
  readonly node: string
  readonly nowMs: number
  /** Keys used since the last report. */
  readonly used: readonly UseKey[]
  /** Keys added to the configuration since the last report. */
  readonly seen: readonly UseKey[]
  /** Keys removed from the configuration. */
  readonly gone: readonly UseKey[]
  /** Health changes found by this node's probes since the last report, by member. */
  readonly changes: ReadonlyMap<string, number>
  /** The node stops: this report covers all of its answers. */
  readonly isLast: boolean
}

export interface ObjectUse {
  /** When it first appeared in the configuration, Unix epoch. */
  readonly seenMs: number
  /** null: not used since. Precise to a few minutes on the day of last use. */
  readonly usedMs: number | null
}

interface NodeUse {
  readonly node: string
  /** Since then it has reported all of its answers, Unix epoch. */
  readonly sinceMs: number
  /** Its last report. */
  readonly untilMs: number
  /** It stopped after its last report. */
  readonly isStopped: boolean
}

export interface UseRecord {
  readonly nodes: readonly NodeUse[]
  readonly objects: ReadonlyMap<UseKey, ObjectUse>
  /** By member, the most that one node found; other nodes saw the same changes. */
  readonly changes: ReadonlyMap<string, number>
}

export const useLimits = {
  /** Longest gap between reports; after a longer one without a stop, uses may be missing. */
  silentMsMax: 3_600_000,
  /** Days for which health changes are kept. */
  changesKeptDays: 31,
  /** How long uses of a removed node or object are kept. */
  keptMs: 400 * 24 * 3_600_000,
} as const

export interface ObjectUses {
  readonly report: (report: UseReport) => StoreCall<void>
  /** All keys there are. */
  readonly keys: () => StoreCall<readonly UseKey[]>
  /** @param fromMs start of the count of health changes */
  readonly read: (fromMs: number) => StoreCall<UseRecord>
}
