// Sums what each member gets from the answers that differ, in queries where names are counted.
import type { Traffic } from './clients/traffic.ts'
import type { AnswerChange, ExpectedTraffic, MemberTraffic } from './model.ts'

/** @param part6 which part of the clients is of IPv6 */
export function expectedTraffic(
  changes: readonly AnswerChange[],
  traffic: Traffic | null,
  part6: number,
): ExpectedTraffic {
  const isCounted = traffic !== null && traffic.names.size > 0
  const sending = changes.filter(({ movement }) => movement !== null)
  const seconds = traffic?.seconds ?? null
  const each = isCounted ? 1 / (seconds ?? 1) : 1 / (sending.length || 1)
  const sums = new Map<string, { -readonly [Key in keyof MemberTraffic]: MemberTraffic[Key] }>()
  for (const change of sending) {
    const whole = (isCounted ? (countOf(change, traffic) ?? 0) : 1) * each
    if (whole === 0) continue
    const { ipv4, ipv6 } = change.movement!
    for (const [{ members }, part] of [
      [ipv4, 1 - part6],
      [ipv6, part6],
    ] as const) {
      if (part === 0) continue
      for (const { before, after, ...endpoint } of members) {
        const sum = sums.get(endpoint.member) ?? { ...endpoint, before: 0, after: 0 }
        sum.before += before * part * whole
        sum.after += after * part * whole
        sums.set(endpoint.member, sum)
      }
    }
  }
  const unit = !isCounted ? 'share' : seconds === null ? 'queries' : 'queries-per-second'
  const changed = ({ before, after }: MemberTraffic): number => Math.abs(after - before)
  const members = [...sums.values()].sort(
    (one, other) => changed(other) - changed(one) || other.after - one.after,
  )
  return { unit, members }
}

/** Names that differ and are not counted, where others are. */
export function uncountedNames(
  changes: readonly AnswerChange[],
  traffic: Traffic | null,
): readonly string[] {
  if (traffic === null || traffic.names.size === 0) return []
  const missing = changes.filter(
    (change) => change.movement !== null && countOf(change, traffic) === undefined,
  )
  return [...new Set(missing.map(({ name }) => name))]
}

const countOf = ({ name, type }: AnswerChange, { names }: Traffic): number | undefined =>
  names.get(`${name} ${type}`) ?? names.get(name)
