// The port by which control nodes share the reports of pulling nodes.
import type { StoreCall } from './store-result.ts'

export interface PullingNode {
  /** Identifies one process of the node. */
  readonly key: string
  /** The report; only its writer knows the format. */
  readonly text: string
  /** When it was received, Unix epoch, by the clock of the receiving node. */
  readonly atMs: number
}

export interface PullingNodes {
  readonly tell: (node: PullingNode) => StoreCall<void>
  /** The last report of each process received within `forgottenMs`, unordered. */
  readonly list: () => StoreCall<readonly PullingNode[]>
}

export const pullingNodeLimits = {
  forgottenMs: 24 * 3_600_000,
  nodesMax: 10_000,
  textBytesMax: 16_384,
} as const
