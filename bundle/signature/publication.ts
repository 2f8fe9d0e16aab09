// A publication: a signed channel record and the bundle that it names.
import type { SignedChannelRecord } from './channel.ts'

export interface Publication {
  readonly signedRecord: SignedChannelRecord
  /** Signed, in a SharedArrayBuffer. A renewed record comes with the same bytes. */
  readonly bundle: Uint8Array
}
