// Groups services by what they ask of their pools: each distinct demand with one of its services.
import type { Member } from '#schemas/objects/member.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import type { Way } from '#routing/choose/way.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import type { Entry, Tree } from '#compiler/tree/tree.ts'
import { addressFamilies, ipv4, ipv6 } from '#compiler/values/member-target.ts'
import type { AddressFamily } from '#compiler/values/member-target.ts'
import { waysOfService } from '#compiler/tree/service-ways.ts'

export interface PoolDemand {
  readonly pool: Entry<'Pool'>
  /** The first service of the demand that has `weakSpots` on. */
  readonly service: Entry<'Service'>
  /** Number of other services with the same demand. */
  others: number
  readonly ways: readonly Way[]
  readonly isWeighted: boolean
  /** The pool that answers when this one has no member left. */
  readonly fallback: Entry<'Pool'> | undefined
  /** All enabled members are answered when too few are healthy. */
  readonly asksAll: boolean
}

/** Cached, since several rules read the demands of one tree. */
const known = new WeakMap<Tree, readonly PoolDemand[]>()

/** The demands on pools at risk. */
export function poolDemands(tree: Tree): readonly PoolDemand[] {
  let demands = known.get(tree)
  if (demands === undefined) known.set(tree, (demands = demandsOn(tree, isAtRisk)))
  return demands
}

/** The demands of services whose `weakSpots` is on, in the order of their files. */
export function demandsOn(
  tree: Tree,
  isMeant: (pool: Entry<'Pool'>) => boolean,
): readonly PoolDemand[] {
  const demands: PoolDemand[] = []
  /** The first demand on each pool; most pools have no other. */
  const firstOf = new Map<Entry<'Pool'>, PoolDemand>()
  const furtherOf = new Map<string, PoolDemand>()
  const waysOf = new KnownWays()
  // A counted loop: it runs over many thousands at each write.
  for (let i = 0; i < tree.of.Service.length; i++) {
    const service = tree.of.Service[i]!
    const { spec } = service.object
    const pool = tree.poolOf[i]
    if (!spec.weakSpots || pool?.tenant !== service.tenant || !isMeant(pool)) continue
    const ways = waysOf.service(spec)
    const first = firstOf.get(pool)
    const isFirst = first?.ways === ways && onAllDownOf(first) === spec.onAllDown
    const key = first === undefined || isFirst ? '' : keyOf(spec, ways)
    const same = isFirst ? first : furtherOf.get(key)
    if (same !== undefined) {
      same.others++
      continue
    }
    const named = fallbackPoolOf(spec)
    const standIn = named === undefined ? undefined : tree.poolNamed.get(named)
    const demand = {
      ...{ pool, service, ways, others: 0 },
      isWeighted: dividesByWeight(ways),
      fallback: standIn?.tenant === service.tenant ? standIn : undefined,
      asksAll: spec.onAllDown === 'all',
    }
    demands.push(demand)
    if (first === undefined) firstOf.set(pool, demand)
    else furtherOf.set(key, demand)
  }
  return demands
}

/** True when members can be down or cannot bear all clients: else there is no risk. */
const isAtRisk = ({ object: { spec } }: Entry<'Pool'>): boolean =>
  spec.healthCheck !== undefined || spec.members.some(bearsLess)

/** Made once: each write asks it of thousands of pools. */
const bearsLess = ({ capacity }: Member): boolean => capacity < capacityDefault

/** Percent of the pool's clients that a member can bear by default. */
export const capacityDefault = 100

type Spec = Entry<'Service'>['object']['spec']

const onAllDownOf = ({ service }: PoolDemand): string => service.object.spec.onAllDown

const keyOf = ({ pool, onAllDown }: Spec, ways: readonly Way[]): string =>
  `${pool} ${onAllDown} ${ways.map(({ name }) => name).join()}`

/** Gives services with the same choice one list of ways. */
class KnownWays {
  readonly #byNames = new Map<string, readonly Way[]>()
  readonly #byTexts = new Map<string, readonly Way[]>()

  service({ algorithm, filterChain }: Spec): readonly Way[] {
    const text = filterChain.length === 0 ? algorithm : `[${filterChain.join()}]`
    let ways = this.#byTexts.get(text)
    if (ways !== undefined) return ways
    ways = waysOfService({ algorithm, filterChain })
    const names = ways.map(({ name }) => name).join()
    ways = this.#byNames.get(names) ?? ways
    this.#byNames.set(names, ways)
    this.#byTexts.set(text, ways)
    return ways
  }
}

/** `www.example.com.`, `www.example.com. and 3 more names` */
export function demandLabel({ service, others }: PoolDemand): string {
  const { domain } = service.object.spec
  if (others === 0) return domain
  return `${domain} and ${others} more ${others === 1 ? 'name' : 'names'}`
}

const either: AddressFamily = { name: 'any', noun: 'answer', has: () => true }

/**
 * The family that some clients depend on. Where a pool has both it is IPv4, since clients with IPv6
 * have IPv4 as well.
 */
export function neededFamilyOf({ object }: Entry<'Pool'>): AddressFamily {
  const { members } = object.spec
  if (object.spec.answer === 'cname' || members.length === 0) return either
  return members.some(ipv4.has) ? ipv4 : ipv6
}

/** Families among the pool's members; only `either` when all members have the same. */
export function familiesOf({ object }: Entry<'Pool'>): readonly AddressFamily[] {
  const { members } = object.spec
  const both = addressFamilies.filter(({ has }) => members.some(has))
  const isSame = both.length < 2 || members.every((one) => ipv4.has(one) && ipv6.has(one))
  return isSame ? [either] : both
}

/** Members of the family that the demand's services may answer, assuming all are healthy. */
export function countedOf(
  { object }: Entry<'Pool'>,
  { isWeighted }: PoolDemand,
  family: AddressFamily,
): readonly Member[] {
  return object.spec.members.filter(
    (member) => member.enabled && family.has(member) && (member.weight > 0 || !isWeighted),
  )
}
