// The port to what answers have used, and to what this node knows to be counted nowhere.
import type { ObjectUses } from '#state/ports/object-use.ts'

export interface UseView {
  readonly read: ObjectUses['read']
  /** Why use is not known, as sentences without a full stop; empty: it is. */
  readonly gaps: () => {
    readonly names: string
    readonly redirects: string
  }
}
