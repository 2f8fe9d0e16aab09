// The port by which control nodes tell each other what nodes that pull have told them.
import type { StoreCall } from './store-result.ts'

export interface ToldNode {
  /** Of one process. */
  readonly key: string
  /** What it said: for those who wrote it. */
  readonly text: string
  /** When it was heard, Unix epoch, by the clock of who heard it. */
  readonly atMs: number
}

export interface ToldNodes {
  readonly tell: (node: ToldNode) => StoreCall<void>
  /** Those that were heard within a day, in no order; of one process the last word. */
  readonly list: () => StoreCall<readonly ToldNode[]>
}

export const toldNodeLimits = {
  forgottenMs: 24 * 3_600_000,
  nodesMax: 10_000,
  textBytesMax: 16_384,
} as const
