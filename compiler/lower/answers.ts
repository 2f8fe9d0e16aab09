// Tells what a name can answer with all members up, by family of addresses: after its pools, their
// members and weights, `minHealthy`, what stands in for them, its records and response rules.
import { discoveredLimits } from '#bundle/discovered/from.ts'
import { RrType } from '#dns/rrtype.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import type { PoolSpec } from '#schemas/objects/pool.ts'
import type { ResponsePolicySpec } from '#schemas/objects/response-policy.ts'
import type { ServiceSpec } from '#schemas/objects/service.ts'
import { isDiscoveredMember, isHostname } from '#compiler/values/member-target.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { waysOfService } from '#compiler/tree/service-ways.ts'

/**
 * The answers of a name as bits of a number, since a configuration may have millions of names:
 * those of its service, those of its records, and flags for both.
 */
export type Answers = number

export const answerBits = {
  serviceV4: 1,
  serviceV6: 2,
  recordV4: 4,
  recordV6: 8,
  /** The name has records of any type. */
  record: 16,
  /** A service that names a pool: a change that removes it is explicit. */
  pool: 32,
  /** A response rule denies the name. */
  denied: 64,
} as const
const { serviceV4, serviceV6, recordV4, recordV6 } = answerBits
const bothFamilies = serviceV4 | serviceV6
/** Shift from the bits of a service to those of records. */
const recordShift = 2

/** Answers of the enabled members of a pool, in the bits of a service. */
export interface PoolAnswers {
  readonly all: number
  /** The same where members of weight 0 get no answers. */
  readonly weighted: number
  /** `minHealthy` exceeds its members, so the pool alone answers nothing. */
  readonly isBelow: boolean
}

export function poolAnswers(spec: PoolSpec): PoolAnswers {
  let all = 0
  let weighted = 0
  let enabled = 0
  for (const member of spec.members) {
    if (!member.enabled) continue
    // A source may find many.
    enabled += isDiscoveredMember(member) ? discoveredLimits.slots : 1
    // A host name has addresses of both families, as far as anybody knows here.
    const families = isHostname(member)
      ? bothFamilies
      : member.ipAddress.includes(':')
        ? serviceV6
        : serviceV4
    all |= families
    if (member.weight > 0) weighted |= families
  }
  return { all, weighted, isBelow: enabled < spec.minHealthy }
}

/** @param poolNamed undefined: there is no such pool */
export function serviceAnswers(
  spec: ServiceSpec,
  poolNamed: (name: string) => PoolAnswers | undefined,
): Answers {
  if (spec.pool === null) return 0
  // Steps of a chain always leave a candidate; weights may leave none.
  const isWeighted = dividesByWeight(waysOfService(spec))
  const membersOf = (pool: PoolAnswers | undefined): number =>
    (isWeighted ? pool?.weighted : pool?.all) ?? 0
  const own = poolNamed(spec.pool)
  const usual = own?.isBelow === true ? 0 : membersOf(own)
  if (spec.onAllDown === 'all') return answerBits.pool | usual | membersOf(own)
  const standIn = fallbackPoolOf(spec)
  const other = standIn === undefined ? undefined : poolNamed(standIn)
  return answerBits.pool | usual | (other?.isBelow === true ? 0 : membersOf(other))
}

/** An alias counts for both families. */
export function recordAnswers(type: number): Answers {
  const { record } = answerBits
  if (type === RrType.A) return record | recordV4
  if (type === RrType.AAAA) return record | recordV6
  return type === RrType.CNAME ? record | recordV4 | recordV6 : record
}

/** Whether a rule denies a name in lower case. */
export type Denial = (name: string) => boolean

/**
 * Builds the check of denied names; undefined: no rule denies any.
 *
 * @param policies the first rule of a name counts
 * @param denies by default, whether the rule says that the name does not exist
 */
export function denialBy(
  policies: Iterable<ResponsePolicySpec>,
  denies: (action: string) => boolean = (action) => action === 'nxdomain',
): Denial | undefined {
  const exact = new Map<string, boolean>()
  const domain = new Map<string, boolean>()
  let hasAny = false
  for (const { rules } of policies) {
    for (const { triggerType, triggerValue, action } of rules) {
      const trigger = checkHostName(triggerValue).key
      const named = triggerType === 'exact' ? exact : domain
      if (trigger === undefined || named.has(trigger)) continue
      const isDenial = denies(action)
      named.set(trigger, isDenial)
      hasAny ||= isDenial
    }
  }
  if (!hasAny) return undefined
  return (name) => {
    const own = exact.get(name) ?? domain.get(name)
    if (own !== undefined) return own
    for (const above of enclosingNames(name)) {
      const found = domain.get(above)
      if (found !== undefined) return found
    }
    return false
  }
}

/** Answers that an existing name has lost; each is a word for messages. */
type LostAnswers = 'IPv4' | 'IPv6' | 'IPv4 and IPv6' | 'all'

/**
 * Returns what an existing name has lost. Removal of its service, of the service's pool or of
 * record sets is explicit in the change and does not count here: removed names are counted
 * elsewhere.
 */
export function lostBetween(before: Answers, now: Answers): LostAnswers | undefined {
  const { denied, pool, record } = answerBits
  const families = (answers: Answers): number => (answers | (answers >> recordShift)) & bothFamilies
  if ((before & denied) !== 0) return undefined
  if ((now & denied) !== 0) {
    return (before & (bothFamilies | record)) !== 0 ? 'all' : undefined
  }
  if ((now & pool) === 0) return undefined
  const lost = before & bothFamilies & ~families(now)
  if (lost === 0) return undefined
  if (families(now) === 0) return 'all'
  return lost === bothFamilies ? 'IPv4 and IPv6' : lost === serviceV4 ? 'IPv4' : 'IPv6'
}
