// Computes what a name holds and what a change removes from it, for the guardrails.
import { RrType } from '#dns/rrtype.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'

/** Presence of a service: one without a pool exists but has no records. */
export const Presence = { Absent: 0, Empty: 1, Answers: 2 } as const
export type Presence = (typeof Presence)[keyof typeof Presence]

/**
 * The presence of a name's service and its number of record sets, in one small number, since a
 * configuration may have millions of names. 0: the name holds nothing.
 */
export type Standing = number

// Two bits for the service, ten for sets with addresses, the rest for all sets. A valid name has at
// most two sets with addresses, or one alias.
const serviceMask = 0b11
const addressUnit = 4
const addressMask = 1_023 * addressUnit
const setUnit = 4_096

/** An alias counts as an address. */
const addressTypes: readonly number[] = [RrType.A, RrType.AAAA, RrType.CNAME, aliasCode]

export function withService(standing: Standing, service: Presence): Standing {
  return standing - (standing & serviceMask) + service
}

/** @param by 1: a set is added, -1: it is removed */
export function withRecords(standing: Standing, type: number, by: 1 | -1): Standing {
  return standing + by * (setUnit + (addressTypes.includes(type) ? addressUnit : 0))
}

/**
 * Names are counted together and by kind, so that many of one kind do not hide the loss of another.
 */
export const measures = Object.freeze(['all', 'balanced', 'records'] as const)
export type Measure = (typeof measures)[number]
export type PerMeasure<T> = Readonly<Record<Measure, T>>

/** Noun for the counted names in messages. */
export const nounOf: PerMeasure<string> = Object.freeze({
  all: 'name',
  balanced: 'balanced name',
  records: 'name with records',
})

export function presenceBy(measure: Measure, standing: Standing): Presence {
  const service = (standing & serviceMask) as Presence
  if (measure === 'balanced') return service
  if (standing >= setUnit) return Presence.Answers
  return measure === 'all' ? service : Presence.Absent
}

/**
 * Whether a name of the measure answers less than before. A replacement is no loss: static
 * addresses for those of a service, a service for records.
 */
export function isLostBy(measure: Measure, before: Standing, now: Standing): boolean {
  if (measure === 'balanced') {
    const hasAddresses = (now & addressMask) > 0
    return (now & serviceMask) < (before & serviceMask) && !hasAddresses
  }
  if (measure === 'records' && before < setUnit) return false
  return presenceBy('all', now) < presenceBy('all', before)
}

export function isLeftWithoutPool(now: Standing): boolean {
  return (now & serviceMask) === Presence.Empty
}

export function perMeasure<T>(valueOf: (measure: Measure) => T): PerMeasure<T> {
  return { all: valueOf('all'), balanced: valueOf('balanced'), records: valueOf('records') }
}
