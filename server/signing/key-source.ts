// The port to the keys of zones: from the database of a control node, or sent by such a node.
import type { KeyRecord } from '#dns/dnssec/key-record.ts'

export interface KeySource {
  /** Where the keys are, for sentences: "the database". */
  readonly place: string
  /** By zone: lower case, with the final dot. */
  readonly keys: () => ReadonlyMap<string, readonly KeyRecord[]>
  /** By zone: why its keys cannot be used, a sentence. */
  readonly faults: () => ReadonlyMap<string, string>
  /** @param handler called when there are other keys or faults */
  readonly onChange: (handler: () => void) => void
  /** null: keys are made elsewhere. */
  readonly makeFirst: MakeFirst | null
}

/**
 * Makes the first keys of a zone later, if it still has none by then.
 *
 * @param make called at that time with the kind of keys to make
 * @returns a sentence why none are made, as far as is known; null: they will be made
 */
export type MakeFirst = (
  zone: string,
  make: (plan: FirstKeys) => readonly KeyRecord[],
) => string | null

export interface FirstKeys {
  /** A KSK and a ZSK instead of one key for both. */
  readonly isSplit: boolean
}

/** Why no first keys are made here for a zone. */
export interface NoFirstKeys {
  /** A sentence. */
  readonly reason: string
  /** Asking again as soon as the keys are missed may succeed. */
  readonly isSoonOver: boolean
}
