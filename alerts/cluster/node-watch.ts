// Decides which nodes of the cluster are alive: those whose beat counter in the database rises.
// Clocks of other nodes are not used.
import type { MissingNode } from '#alerts/facts.ts'
import type { Clock } from '#lib/clock.ts'
import type { NodeReport } from '#state/ports/alerts.ts'
import { clusterLimits } from './limits.ts'

interface Seen {
  readonly beat: number
  readonly atMonotonicMs: number
  readonly atMs: number
}

export class NodeWatch {
  readonly #clock: Clock
  #seen = new Map<string, Seen>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(reports: readonly NodeReport[]): void {
    const seen = new Map<string, Seen>()
    for (const { node, beat } of reports) {
      const before = this.#seen.get(node)
      const isSame = before?.beat === beat
      const now = { beat, atMonotonicMs: this.#clock.monotonicMs(), atMs: this.#clock.nowMs() }
      seen.set(node, isSame ? before : now)
    }
    this.#seen = seen
  }

  isThere(node: string): boolean {
    const quietMs = this.#quietMs(node)
    return quietMs !== undefined && quietMs < clusterLimits.missingAfterMs
  }

  missing(): readonly MissingNode[] {
    return [...this.#seen]
      .filter(([node]) => !this.isThere(node))
      .map(([node, { atMs }]) => ({ node, sinceMs: atMs }))
  }

  /** Nodes that have been missing for too long to be waited for. */
  lost(): readonly string[] {
    return [...this.#seen.keys()].filter(
      (node) => (this.#quietMs(node) ?? 0) >= clusterLimits.forgetNodeMs,
    )
  }

  #quietMs(node: string): number | undefined {
    const seen = this.#seen.get(node)
    return seen === undefined ? undefined : this.#clock.monotonicMs() - seen.atMonotonicMs
  }
}
