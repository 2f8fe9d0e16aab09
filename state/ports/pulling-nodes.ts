// The port by which control nodes share the reports of nodes that pull.
import type { StoreCall } from './store-result.ts'

export interface PullingNode {
  /** Names one process of the node. */
  readonly key: string
  /** What it said: only its writer knows the format. */
  readonly text: string
  /** When it was heard, Unix epoch, by the clock of the node that heard it. */
  readonly atMs: number
}

export interface PullingNodes {
  readonly tell: (node: PullingNode) => StoreCall<void>
  /** Nodes that were heard within `forgottenMs`, in no order: the last word of each process. */
  readonly list: () => StoreCall<readonly PullingNode[]>
}

export const pullingNodeLimits = {
  forgottenMs: 24 * 3_600_000,
  nodesMax: 10_000,
  textBytesMax: 16_384,
} as const
