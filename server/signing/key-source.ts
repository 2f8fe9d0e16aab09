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
  /** Makes a first key of a zone later, if there is none by then; null: others make keys. */
  readonly makeFirst: ((make: () => KeyRecord) => void) | null
}
