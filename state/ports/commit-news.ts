// The port by which nodes tell each other which commits they serve.
import type { StoreCall } from './store-result.ts'

export interface CommitAnnouncements {
  /** @param text at most 8,000 octets */
  readonly announce: (text: string) => StoreCall<void>
}
