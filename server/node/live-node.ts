// Defines the generation that a node answers from, for code that reads a copy of it.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { RoutingState } from '#routing/state/state.ts'

/** Memory of a generation: after the next swap but one it may belong to another generation. */
export interface LiveNode {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly tables: RoutingTables
  /** The commit id that Git uses. */
  readonly commit: string
}
