// The port to what control nodes share of a delivery: a row a channel, compared and swapped.
import type { StoreCall } from './store-result.ts'

export interface DeliveryRow {
  /** Rises with each replacement. */
  readonly revision: number
  /** The control node that decides. */
  readonly decider: string
  /** JSON; what it says is not the store's affair. */
  readonly state: string
}

export interface Deliveries {
  /** null: there is none. */
  readonly read: (channel: string) => StoreCall<DeliveryRow | null>
  /**
   * @param seen the revision that was read; 0: there was none
   * @returns false: another one was faster
   */
  readonly replace: (
    channel: string,
    seen: number,
    row: Omit<DeliveryRow, 'revision'>,
  ) => StoreCall<boolean>
}
