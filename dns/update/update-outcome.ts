// What comes of an UPDATE message.
import type { Rcode } from '#dns/rcode.ts'

export interface UpdateOutcome {
  readonly rcode: Rcode
  /** For people at the requestor, a sentence without its dot; empty: the rcode says all. */
  readonly why: string
}

export const withoutReason = (rcode: Rcode): UpdateOutcome => ({ rcode, why: '' })
