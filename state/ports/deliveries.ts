// The port to the state of a delivery that control nodes share: one row per channel, replaced by
// compare and swap.
import type { StoreCall } from './store-result.ts'

interface DeliveryRow {
  /** Rises with each replacement. */
  readonly revision: number
  /** The control node that decides. */
  readonly decider: string
  /** JSON, opaque to the store. */
  readonly state: string
}

export interface Deliveries {
  /** null: there is none. */
  readonly read: (channel: string) => StoreCall<DeliveryRow | null>
  /**
   * @param seen revision that was read; 0: none
   * @returns false: another node was faster
   */
  readonly replace: (
    channel: string,
    seen: number,
    row: Omit<DeliveryRow, 'revision'>,
  ) => StoreCall<boolean>
}
