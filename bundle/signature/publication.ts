// A publication: a signed channel record and the bundle that it names.
import type { SignedChannelRecord } from './channel.ts'

export interface Publication {
  readonly signedRecord: SignedChannelRecord
  /** Signed, on a SharedArrayBuffer. A renewal of the record brings the same bytes again. */
  readonly bundle: Uint8Array
}
