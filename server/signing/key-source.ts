// What hands out the keys of zones: the database of a control node, or what such a node has sent.
import type { KeyRecord } from '#dns/dnssec/key-record.ts'

export interface KeySource {
  /** Where the keys are, as a sentence says it: "the database". */
  readonly place: string
  /** By zone: lower case, with the final dot. */
  readonly keys: () => ReadonlyMap<string, readonly KeyRecord[]>
  /** By zone: why its keys cannot be used, a sentence. */
  readonly faults: () => ReadonlyMap<string, string>
  /** @param handler called when there are other keys or faults */
  readonly onChange: (handler: () => void) => void
  /** null: others make keys. */
  readonly makeFirst: MakeFirst | null
}

/**
 * Makes the first keys of a zone later, if there are none by then.
 *
 * @param make called with what they are to be, when they are to be made
 * @returns why there are none to be made, as far as it is known: a sentence; null: they come
 */
export type MakeFirst = (
  zone: string,
  make: (plan: FirstKeys) => readonly KeyRecord[],
) => string | null

export interface FirstKeys {
  /** A KSK and a ZSK, in the place of one key for all. */
  readonly isSplit: boolean
}

/** Why a zone has no first keys that are made here. */
export interface NoFirstKeys {
  /** A sentence. */
  readonly reason: string
  /** It is worth asking again as soon as the keys are missed. */
  readonly isSoonOver: boolean
}
