// Finds nodes that differ from the rest of a fleet, seen from a control node.
import type { Clock } from '#lib/clock.ts'
import { distanceMs, fleetOffsetMs } from './fleet-clock.ts'
import type { KnownNode } from './node-inventory.ts'

export const driftKinds = [
  /** Silent for too long. */
  'missing',
  /** Serves an older bundle than this node gives, for longer than a change takes. */
  'behind',
  /** Other nodes have another digest at the same seq of the same publisher. */
  'split-seq',
  /** Its clock differs from most others. */
  'clock',
  /** Refuses what a source gives it. */
  'refusing',
  /** Another process reports under the same name. */
  'name-taken',
] as const
type DriftKind = (typeof driftKinds)[number]

export interface DriftedNode extends KnownNode {
  /** Empty: nothing is wrong, or its report is not signed by a listed node. */
  readonly drift: readonly DriftKind[]
  /** How far its clock is at least ahead (+) of most others, or behind (-). */
  readonly clockErrorMs: number
}

/** The bundle that this node gives to others. */
interface CurrentBundle {
  readonly publisher: string
  readonly seq: number
  readonly digest: string
}

export const driftLimits = {
  /** Time after a change: nodes may pause for a minute, and load slowly. */
  behindMs: 300_000,
  clockOffsetMs: 1_000,
} as const

/** Finds nodes that drift, and remembers for how long the current bundle is given. */
export class DriftWatch {
  readonly #clock: Clock
  readonly #current: () => CurrentBundle | undefined
  #seen: { readonly digest: string; readonly sinceMs: number } | undefined

  constructor(clock: Clock, current: () => CurrentBundle | undefined) {
    this.#clock = clock
    this.#current = current
  }

  /** To be called every few seconds, so that a change of the bundle is seen when it comes. */
  look(nodes: readonly KnownNode[]): readonly DriftedNode[] {
    const current = this.#current()
    const nowMs = this.#clock.monotonicMs()
    if (current !== undefined && this.#seen?.digest !== current.digest) {
      this.#seen = { digest: current.digest, sinceMs: nowMs }
    }
    const isOld = nowMs - (this.#seen?.sinceMs ?? nowMs) > driftLimits.behindMs
    const counted = nodes.filter(({ isCounted }) => isCounted)
    const split = splitSeqs(counted, current)
    const live = counted.filter(({ isMissing }) => !isMissing)
    const offsetMs = fleetOffsetMs(live.map(({ clockRangeMs }) => clockRangeMs))
    return nodes.map((node) => {
      const clockErrorMs = distanceMs(node.clockRangeMs, offsetMs)
      const drift = node.isCounted ? driftOf(node, { current, isOld, split, clockErrorMs }) : []
      return { ...node, drift, clockErrorMs }
    })
  }
}

interface Seen {
  readonly current: CurrentBundle | undefined
  /** True when the current bundle has been given for longer than a change takes. */
  readonly isOld: boolean
  readonly split: ReadonlySet<string>
  readonly clockErrorMs: number
}

function driftOf(
  node: KnownNode,
  { current, isOld, split, clockErrorMs }: Seen,
): readonly DriftKind[] {
  const { report, isMissing, sharesName } = node
  const isBehind =
    current !== undefined &&
    // A control node makes its bundles, and is in no wave.
    report.role !== 'control' &&
    report.publisher === current.publisher &&
    report.seq < current.seq &&
    report.digest !== current.digest
  const holds: Readonly<Record<DriftKind, boolean>> = {
    missing: isMissing,
    behind: isOld && isBehind,
    'split-seq': report.digest !== null && split.has(seqOf(report)),
    clock: Math.abs(clockErrorMs) > driftLimits.clockOffsetMs,
    refusing: report.isRefusing,
    'name-taken': sharesName,
  }
  return driftKinds.filter((kind) => holds[kind])
}

const seqOf = ({ publisher, seq }: { publisher: string; seq: number }): string =>
  `${publisher} ${seq}`

/** Sequence numbers with two digests. */
function splitSeqs(
  nodes: readonly KnownNode[],
  current: CurrentBundle | undefined,
): ReadonlySet<string> {
  const digests = new Map<string, string>()
  if (current !== undefined) digests.set(seqOf(current), current.digest)
  const split = new Set<string>()
  for (const { report } of nodes) {
    const { digest } = report
    if (digest === null) continue
    const key = seqOf(report)
    const other = digests.get(key)
    if (other === undefined) digests.set(key, digest)
    else if (other !== digest) split.add(key)
  }
  return split
}
