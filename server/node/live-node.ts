// Defines what a node answers from now, for readers of a copy.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { RoutingState } from '#routing/state/state.ts'

/** Memory of a generation: it may be another one's after the next swap but one. */
export interface LiveNode {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly tables: RoutingTables
  /** Git's id. */
  readonly commit: string
}
