// Defines the port to the objects that answers have used, and to what this node knows to be
// uncounted.
import type { ObjectUses } from '#state/ports/object-use.ts'

export interface UseView {
  readonly read: ObjectUses['read']
  /** Why the use is unknown, as sentences without a full stop; empty: it is known. */
  readonly gaps: () => {
    readonly names: string
    readonly redirects: string
  }
}
