// What a control node knows of the nodes that pull from it: the last report of each, within bounds.
import type { Clock } from '#lib/clock.ts'
import type { NodeReport } from './node-report.ts'

export interface KnownNode {
  readonly report: NodeReport
  /** Since it last said so. */
  readonly ageMs: number
  /** Its clock before (+) or behind (-) the one here, with the time that the report took. */
  readonly clockOffsetMs: number
  /** It was not heard for longer than it should be. */
  readonly isMissing: boolean
  /** Another process says that it has this name, too, and both are heard. */
  readonly sharesName: boolean
}

export interface NodeInventory {
  /** Takes the word of a node. false: there is no room for another one. */
  readonly report: (report: NodeReport) => boolean
  /** By name. */
  readonly all: () => readonly KnownNode[]
}

export const inventoryLimits = {
  nodesMax: 10_000,
  /** A node asks within 25 s, and a minute later when its source was no use. */
  missingMs: 100_000,
  /** One that was silent for so long is forgotten. */
  forgottenMs: 24 * 3_600_000,
} as const

interface Entry {
  readonly report: NodeReport
  /** On the monotonic clock: of its first report, and of this one. */
  readonly firstAtMs: number
  readonly atMs: number
  readonly clockOffsetMs: number
}

export function createNodeInventory(clock: Clock): NodeInventory {
  const entries = new Map<string, Entry>()
  const forget = (beforeMs: number): void => {
    for (const [key, { atMs }] of entries) if (atMs < beforeMs) entries.delete(key)
  }
  return {
    report: (report) => {
      const key = `${report.name} ${report.instance}`
      const nowMs = clock.monotonicMs()
      const before = entries.get(key)
      if (before === undefined && entries.size >= inventoryLimits.nodesMax) {
        forget(nowMs - inventoryLimits.missingMs)
        if (entries.size >= inventoryLimits.nodesMax) return false
      }
      const firstAtMs = before?.firstAtMs ?? nowMs
      const clockOffsetMs = report.sentAtMs - clock.nowMs()
      entries.set(key, { report, firstAtMs, atMs: nowMs, clockOffsetMs })
      return true
    },
    all: () => {
      const nowMs = clock.monotonicMs()
      forget(nowMs - inventoryLimits.forgottenMs)
      return knownOf(entries.values(), nowMs)
    },
  }
}

/** The process that a node was before its last start is left out; two that both speak are not. */
function knownOf(entries: Iterable<Entry>, nowMs: number): readonly KnownNode[] {
  const byName = Map.groupBy(entries, ({ report }) => report.name)
  const names = [...byName.keys()].toSorted()
  return names.flatMap((name) => {
    const all = byName.get(name)!
    const newest = all.reduce((a, b) => (b.firstAtMs >= a.firstAtMs ? b : a))
    const isLate = ({ atMs }: Entry): boolean => nowMs - atMs > inventoryLimits.missingMs
    // It spoke after the newest one had begun to.
    const others = all.filter(
      (one) => one !== newest && one.atMs >= newest.firstAtMs && !isLate(one),
    )
    return [newest, ...others].map((one) => ({
      report: one.report,
      ageMs: nowMs - one.atMs,
      clockOffsetMs: one.clockOffsetMs,
      isMissing: isLate(one),
      sharesName: others.length > 0,
    }))
  })
}
