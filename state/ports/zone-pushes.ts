// The port to what is known of zone pushes: their state, and which records at a target are ours.
import type { StoreCall } from './store-result.ts'

interface StoredPush {
  /** Rises with each change; from 1. */
  readonly revision: number
  readonly state: string
}

export const zonePushLimits = {
  /** Characters. */
  stateMax: 100_000,
} as const

export interface ZonePushStore {
  /**
   * @param target its name in the settings.
   * @returns null: nothing was ever stored
   */
  readonly read: (target: string) => StoreCall<StoredPush | null>
  /**
   * @param seen the revision that the new state was made of; 0: there was none
   * @returns false: another node was first
   */
  readonly replace: (target: string, seen: number, state: string) => StoreCall<boolean>
  /** Keys of the records that were pushed there. */
  readonly records: (target: string) => StoreCall<readonly string[]>
  /** Takes keys away, and adds others; all at once. */
  readonly change: (
    target: string,
    removed: readonly string[],
    added: readonly string[],
  ) => StoreCall<null>
}
