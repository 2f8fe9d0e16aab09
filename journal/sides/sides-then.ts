// Reads from the journal what stood beside bundle and health at an instant.
import { MeasuredReader } from './measured-entries.ts'
import type { MeasuredAverages, MeasuredNetwork } from './measured-entries.ts'
import type { ChangesUntil } from '#journal/format/records.ts'
import { OctetReader } from '#journal/format/octets.ts'
import type { StoredTxtRecord } from '#state/ports/dynamic-dns.ts'
import { TextReader } from './text-entries.ts'

/**
 * `older`: the node that wrote it did not keep this; `limit`: the octets of the day were used up;
 * `damaged`: it was cut, or is not what this version writes.
 */
export type WhyUnkept = 'older' | 'limit' | 'damaged'

export type Then<T> =
  | { readonly kind: 'kept'; readonly value: T }
  | { readonly kind: 'unkept'; readonly why: WhyUnkept }

/** Networks that have any. */
export type MeasuredThen = readonly (MeasuredNetwork & {
  /** Codes of rum/average.ts, by uid: hexadecimal digits. */
  readonly averages: MeasuredAverages
})[]

/** @param measured records, in their order; none: the journal has nothing of it */
export function measuredThen(measured: readonly ChangesUntil[]): Then<MeasuredThen> {
  const reader = new MeasuredReader()
  for (const { payload, untilMs } of measured) reader.follow(new OctetReader(payload), untilMs)
  return thenOf(reader.standing, () => reader.networks())
}

/** Records that a node was handed by its control node do not say who wrote them. */
export type TextsThen = readonly StoredTxtRecord[]

/** @param texts records, in their order; none: the journal has nothing of them */
export function textsThen(texts: readonly ChangesUntil[]): Then<TextsThen> {
  const reader = new TextReader()
  for (const { payload, untilMs } of texts) reader.follow(new OctetReader(payload), untilMs)
  return thenOf(reader.standing, () => reader.records())
}

function thenOf<T>(standing: TextReader['standing'], value: () => T): Then<T> {
  if (standing === 'whole') return { kind: 'kept', value: value() }
  const why = { none: 'older', limit: 'limit', partly: 'damaged', bad: 'damaged' } as const
  return { kind: 'unkept', why: why[standing] }
}
