// What a control node knows of the nodes that pull from it: the last report of each, within bounds.
import type { Clock } from '#lib/clock.ts'
import { readNodeReport } from './node-report.ts'
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
  /** Takes over what other control nodes have heard. */
  readonly refresh: () => Promise<void>
}

/** What control nodes keep together; left out: each knows those that ask it. */
export interface SharedReports {
  readonly tell: (word: Word) => Promise<unknown>
  readonly list: () => Promise<readonly Word[]>
}

export interface Word {
  readonly key: string
  readonly text: string
  /** Unix epoch, by the clock of who heard it. */
  readonly atMs: number
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

export function createNodeInventory(clock: Clock, shared?: SharedReports): NodeInventory {
  const entries = new Map<string, Entry>()
  const forget = (beforeMs: number): void => {
    for (const [key, { atMs }] of entries) if (atMs < beforeMs) entries.delete(key)
  }
  const keep = (report: NodeReport, ageMs: number): boolean => {
    const key = keyOf(report)
    const atMs = clock.monotonicMs() - ageMs
    const before = entries.get(key)
    if (before !== undefined && before.atMs > atMs) return true
    if (report.isLeaving) return entries.delete(key) || true
    if (before === undefined && entries.size >= inventoryLimits.nodesMax) {
      forget(clock.monotonicMs() - inventoryLimits.missingMs)
      if (entries.size >= inventoryLimits.nodesMax) return false
    }
    const firstAtMs = before?.firstAtMs ?? atMs
    const clockOffsetMs = report.sentAtMs - (clock.nowMs() - ageMs)
    entries.set(key, { report, firstAtMs, atMs, clockOffsetMs })
    return true
  }
  return {
    report: (report) => {
      const isKept = keep(report, 0)
      if (isKept && shared !== undefined) {
        void shared.tell({ key: keyOf(report), text: JSON.stringify(report), atMs: clock.nowMs() })
      }
      return isKept
    },
    refresh: async () => {
      const words = (await shared?.list()) ?? []
      for (const { text, atMs } of words) {
        const report = readNodeReport(parsed(text))
        if (report.ok) keep(report.value, Math.max(0, clock.nowMs() - atMs))
      }
    },
    all: () => {
      const nowMs = clock.monotonicMs()
      forget(nowMs - inventoryLimits.forgottenMs)
      return knownOf(entries.values(), nowMs)
    },
  }
}

const keyOf = ({ name, instance }: NodeReport): string => `${name} ${instance}`

/** Another version of gslbd may have written it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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
