// Holds what a control node knows of the nodes that pull from it: a limited number of nodes, each
// with its last report.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { ClockRange } from './fleet-clock.ts'
import type { NodeJudge } from './nodes/node-list.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { parseJson } from '#lib/text/json.ts'

export interface KnownNode {
  /** The report; labels of a listed node are those of the list. */
  readonly report: NodeReport
  /** True: a listed node signed the report, or unlisted nodes count as well. */
  readonly isCounted: boolean
  /** Age of its last report. */
  readonly ageMs: number
  /** How far its clock is ahead (+) or behind (-), with the time that the report took. */
  readonly clockOffsetMs: number
  /** The same by the clock here alone: what came by the store was written since the last look. */
  readonly clockRangeMs: ClockRange
  /** True: silent for too long. */
  readonly isMissing: boolean
  /** True: another live process reports under the same name. */
  readonly sharesName: boolean
}

export interface NodeInventory {
  /**
   * Takes a report. false: there is no room for another node.
   *
   * @param sent as it arrived; left out: it is this node's own
   */
  readonly report: (report: NodeReport, sent?: object) => boolean
  /** Name and labels under which the node gets bundles, if its report counts. */
  readonly counted: (report: NodeReport, sent: object) => NodeReport | undefined
  /** Whether a listed node signed the report: whether its name is its own. */
  readonly isListed: (report: NodeReport, sent: object) => boolean
  /** Ordered by name. */
  readonly all: () => readonly KnownNode[]
  /** For how long the store of the control nodes was there; 0: it is away. */
  readonly heardMs: () => number
  /** Merges what other control nodes have heard. */
  readonly refresh: () => Promise<void>
}

/** The store that control nodes share; left out: each knows only the nodes that ask it. */
export interface SharedReports {
  readonly tell: (word: Word) => Promise<unknown>
  /** undefined: it cannot be read. */
  readonly list: () => Promise<readonly Word[] | undefined>
}

interface Word {
  readonly key: string
  readonly text: string
  /** Unix epoch, by the clock of the receiving node. */
  readonly atMs: number
}

export const inventoryLimits = {
  nodesMax: 10_000,
  /** A node of an older version does not announce its next report. */
  missingMs: 100_000,
  /** Reports that a node may miss, since a network may be slow. */
  misses: 2,
  slowMs: 5_000,
  /** After a silence of so long a node is forgotten. */
  forgottenMs: 24 * 3_600_000,
} as const

/** Accepts every node, where no list is kept. */
const everyNode: NodeJudge = {
  signer: () => undefined,
  isListed: () => false,
  countsUnlisted: () => true,
}

interface Entry {
  readonly report: NodeReport
  /** True: its node signed it, or a control node shared it through the store. */
  readonly isVouched: boolean
  /** True: another control node heard it, and this one by the store alone. */
  readonly isShared: boolean
  /** By the monotonic clock: of its first report, and of this one. */
  readonly firstAtMs: number
  readonly atMs: number
  readonly clockOffsetMs: number
  readonly clockRangeMs: ClockRange
}

/** What is known of the store that control nodes share. */
interface StoreSeen {
  /** Since when it can be read, by the monotonic clock; Infinity: it cannot. */
  readonly sinceMs: number
  /** Nodes that were missing when it went away, which does not bring them back. */
  readonly missedBefore: ReadonlySet<Entry>
}

type Vouched = Pick<Entry, 'report' | 'isVouched'>

export function createNodeInventory(
  clock: Clock,
  shared?: SharedReports,
  judge: NodeJudge = everyNode,
): NodeInventory {
  const entries = new Map<string, Entry>()
  const vouched = (report: NodeReport, sent: object): Vouched => {
    // A control node pulls no bundles.
    const signer = report.role === 'control' ? undefined : judge.signer(sent, report)
    if (signer === undefined) return { report, isVouched: false }
    return { report: { ...report, labels: signer.labels }, isVouched: true }
  }
  const counts = ({ report, isVouched }: Vouched): boolean => {
    if (report.role === 'control') return isVouched
    return (isVouched && judge.isListed(report.name)) || judge.countsUnlisted()
  }
  const keep = (one: Vouched, ageMs: number, sinceMs?: number): boolean =>
    keepIn(entries, { ...one, ageMs, sinceMs }, clock)
  /** When the last look at the store began, by the monotonic clock. */
  let lookedAtMs = -Infinity
  let store: StoreSeen = { sinceMs: -Infinity, missedBefore: new Set() }
  return {
    report: (report, sent) => {
      const isOwn = sent === undefined && report.role === 'control'
      const one = isOwn ? { report, isVouched: true } : vouched(report, sent ?? report)
      const isKept = keep(one, 0)
      if (isKept && shared !== undefined && counts(one)) {
        // Stored as it arrived, since other nodes verify it, too.
        const text = JSON.stringify(sent ?? report)
        void shared.tell({ key: sharedKeyOf(report), text, atMs: clock.nowMs() })
      }
      return isKept
    },
    counted: (report, sent) => {
      const one = vouched(report, sent)
      return counts(one) ? one.report : undefined
    },
    isListed: (report, sent) => vouched(report, sent).isVouched,
    heardMs: () => Math.max(0, clock.monotonicMs() - store.sinceMs),
    refresh: async () => {
      const beganAtMs = clock.monotonicMs()
      const words = shared === undefined ? [] : await shared.list()
      const [wasAway, nowMs] = [store.sinceMs === Infinity, clock.monotonicMs()]
      if (words === undefined && !wasAway) {
        const missed = entries.values().filter((one) => isLate(one, nowMs, store))
        store = { sinceMs: Infinity, missedBefore: new Set(missed) }
      } else if (words !== undefined && wasAway) store = { ...store, sinceMs: nowMs }
      for (const { text, atMs } of words ?? []) {
        const sent = parseJson(text)
        const report = readNodeReport(sent)
        if (!report.ok) continue
        // Control nodes report through the shared store alone.
        const isControl = report.value.role === 'control'
        const own = { report: report.value, isVouched: true }
        const one = isControl ? own : vouched(report.value, sent as object)
        keep(one, Math.max(0, clock.nowMs() - atMs), lookedAtMs)
      }
      if (words !== undefined) lookedAtMs = beganAtMs
    },
    all: () => {
      const nowMs = clock.monotonicMs()
      forget(entries, nowMs - inventoryLimits.forgottenMs)
      return knownOf(entries.values(), nowMs, store).map(({ isVouched, ...node }) => ({
        ...node,
        isCounted: counts({ report: node.report, isVouched }),
      }))
    },
  }
}

interface Heard extends Vouched {
  readonly ageMs: number
  /** When the store did not have it yet, by the monotonic clock; undefined: it came here. */
  readonly sinceMs: number | undefined
}

/** @returns false: there is no room for a node that is not listed */
function keepIn(entries: Map<string, Entry>, one: Heard, clock: Clock): boolean {
  const { report, isVouched, ageMs, sinceMs } = one
  const isShared = sinceMs !== undefined
  const key = keyOf(one)
  const atMs = clock.monotonicMs() - ageMs
  const before = entries.get(key)
  if (before !== undefined && before.atMs > atMs) return true
  // The store has it until the next one, also what this node has told it.
  const isSame = report.sentAtMs === before?.report.sentAtMs && !report.isLeaving
  if (isShared && isSame) return true
  // A replay of a recorded report: the later one counts.
  const isOld = before !== undefined && report.sentAtMs < before.report.sentAtMs
  if (isVouched && report.role !== 'control' && isOld) return true
  if (report.isLeaving) return entries.delete(key) || true
  // Listed nodes have a limit of their own.
  if (before === undefined && !isVouched && entries.size >= inventoryLimits.nodesMax) {
    forget(entries, clock.monotonicMs() - inventoryLimits.missingMs)
    if (entries.size >= inventoryLimits.nodesMax) return false
  }
  const firstAtMs = before?.firstAtMs ?? atMs
  const clockOffsetMs = report.sentAtMs - (clock.nowMs() - ageMs)
  const leastMs = report.sentAtMs - clock.nowMs()
  const clockRangeMs: ClockRange = [
    leastMs,
    leastMs + clock.monotonicMs() - (sinceMs ?? clock.monotonicMs()),
  ]
  // The node was listed after its first report.
  if (isVouched) entries.delete(keyOf({ report, isVouched: false }))
  const hasRoom = entries.has(key) || entries.size < inventoryLimits.nodesMax
  assert(isVouched || hasRoom, 'nodes that nobody vouches for are within their limit')
  entries.set(key, { report, isVouched, isShared, firstAtMs, atMs, clockOffsetMs, clockRangeMs })
  return true
}

function forget(entries: Map<string, Entry>, beforeMs: number): void {
  for (const [key, { atMs }] of entries) if (atMs < beforeMs) entries.delete(key)
}

const sharedKeyOf = ({ name, instance }: NodeReport): string => `${name} ${instance}`
const keyOf = ({ report, isVouched }: Vouched): string =>
  `${sharedKeyOf(report)} ${isVouched ? 'vouched' : ''}`

/** May be from another version of gslbd. */
export function missingAfterMs({ againMs }: Pick<NodeReport, 'againMs'>): number {
  const { misses, slowMs, missingMs } = inventoryLimits
  return againMs === undefined ? missingMs : misses * againMs + slowMs
}

/** Nobody is late for the time in which nothing could be heard. */
function isLate(one: Entry, nowMs: number, { sinceMs, missedBefore }: StoreSeen): boolean {
  const { atMs, report, isShared } = one
  const fromMs = isShared ? Math.max(atMs, sinceMs) : atMs
  return missedBefore.has(one) || nowMs - fromMs > missingAfterMs(report)
}

/**
 * Leaves out the process that a node was before its last start; two live processes are both kept.
 */
function knownOf(
  entries: Iterable<Entry>,
  nowMs: number,
  store: StoreSeen,
): readonly (Omit<KnownNode, 'isCounted'> & Vouched)[] {
  // Anybody may use a name: a node that signs is not affected by that.
  const byName = Map.groupBy(entries, ({ report, isVouched }) => `${report.name} ${isVouched}`)
  const names = [...byName.keys()].toSorted()
  return names.flatMap((name) => {
    const all = byName.get(name)!
    const [{ report, isVouched } = undefined!] = all
    // From the store, where its signature has grown too old: the node has started again since.
    const isBefore = !isVouched && byName.has(`${report.name} true`)
    if (isBefore && all.every((one) => isLate(one, nowMs, store))) return []
    const newest = all.reduce((a, b) => (b.firstAtMs >= a.firstAtMs ? b : a))
    // Processes of this name that still reported after the newest one had started.
    const others = all.filter(
      (one) => one !== newest && one.atMs >= newest.firstAtMs && !isLate(one, nowMs, store),
    )
    return [newest, ...others].map((one) => ({
      ...{ report: one.report, isVouched: one.isVouched },
      ageMs: nowMs - one.atMs,
      clockOffsetMs: one.clockOffsetMs,
      clockRangeMs: one.clockRangeMs,
      isMissing: isLate(one, nowMs, store),
      sharesName: others.length > 0,
    }))
  })
}
