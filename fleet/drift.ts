// What is wrong with nodes as a fleet, seen from a control node.
import type { Clock } from '#lib/clock.ts'
import type { KnownNode } from './node-inventory.ts'

export const driftKinds = [
  /** It was not heard for longer than it should be. */
  'missing',
  /** It serves something older than what this node gives, for longer than a change takes. */
  'behind',
  /** Other nodes have another digest at the same seq of the same publisher. */
  'split-seq',
  /** Its clock is off. */
  'clock',
  /** It refuses what a source gives it. */
  'refusing',
  /** Another process says that it has this name, too. */
  'name-taken',
] as const
export type DriftKind = (typeof driftKinds)[number]

export interface DriftedNode extends KnownNode {
  /** Empty: nothing is wrong with it, or nobody vouches for what it says. */
  readonly drift: readonly DriftKind[]
}

/** What this node gives to others. */
export interface CurrentBundle {
  readonly publisher: string
  readonly seq: number
  readonly digest: string
}

export const driftLimits = {
  /** After a change: nodes may rest for a minute, and load slowly. */
  behindMs: 300_000,
  clockOffsetMs: 1_000,
} as const

/** Finds nodes that drift, and remembers since when the present bundle is given. */
export class DriftWatch {
  readonly #clock: Clock
  readonly #current: () => CurrentBundle | undefined
  #seen: { readonly digest: string; readonly sinceMs: number } | undefined

  constructor(clock: Clock, current: () => CurrentBundle | undefined) {
    this.#clock = clock
    this.#current = current
  }

  /** To be called now and then, so that a change is seen when it comes. */
  look(nodes: readonly KnownNode[]): readonly DriftedNode[] {
    const current = this.#current()
    const nowMs = this.#clock.monotonicMs()
    if (current !== undefined && this.#seen?.digest !== current.digest) {
      this.#seen = { digest: current.digest, sinceMs: nowMs }
    }
    const isOld = nowMs - (this.#seen?.sinceMs ?? nowMs) > driftLimits.behindMs
    const counted = nodes.filter(({ isCounted }) => isCounted)
    const split = splitSeqs(counted, current)
    return nodes.map((node) => ({
      ...node,
      drift: node.isCounted ? driftOf(node, { current, isOld, split }) : [],
    }))
  }
}

interface Seen {
  readonly current: CurrentBundle | undefined
  /** What is given now has been given for longer than a change takes. */
  readonly isOld: boolean
  readonly split: ReadonlySet<string>
}

function driftOf(node: KnownNode, { current, isOld, split }: Seen): readonly DriftKind[] {
  const { report, isMissing, clockOffsetMs, sharesName } = node
  const isBehind =
    current !== undefined &&
    report.publisher === current.publisher &&
    report.seq < current.seq &&
    report.digest !== current.digest
  const holds: Readonly<Record<DriftKind, boolean>> = {
    missing: isMissing,
    behind: isOld && isBehind,
    'split-seq': report.digest !== null && split.has(seqOf(report)),
    clock: Math.abs(clockOffsetMs) > driftLimits.clockOffsetMs,
    refusing: report.isRefusing,
    'name-taken': sharesName,
  }
  return driftKinds.filter((kind) => holds[kind])
}

const seqOf = ({ publisher, seq }: { publisher: string; seq: number }): string =>
  `${publisher} ${seq}`

/** Sequence numbers under which there are two digests. */
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
