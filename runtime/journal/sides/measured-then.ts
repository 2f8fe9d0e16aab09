// What browsers had measured at an instant, as far as the journal has it.
import { MeasuredReader } from './measured-entries.ts'
import type { MeasuredAverages, MeasuredNetwork } from './measured-entries.ts'
import type { ChangesUntil } from '../format/records.ts'
import { OctetReader } from '../format/octets.ts'

/**
 * `older`: whoever wrote the journal did not keep it; `limit`: the octets of the day were used up;
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
  if (reader.standing === 'whole') return { kind: 'kept', value: reader.networks() }
  const why = { none: 'older', limit: 'limit', partly: 'damaged', bad: 'damaged' } as const
  return { kind: 'unkept', why: why[reader.standing] }
}
