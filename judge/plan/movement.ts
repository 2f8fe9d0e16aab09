// Sums, over all clients of an address family, from where to where they move.
import type { Address } from '#judge/clients/cuts.ts'
import { hasMoreNetworks, networksOf } from '#judge/clients/networks.ts'
import type { Partition } from '#judge/clients/partition.ts'
import { figure } from './figure.ts'
import { movedByPlace, noList, placeList } from './places.ts'
import type { MovedByPlace } from './places.ts'
import { Reach } from '#judge/sides/chooser.ts'
import { isNowhere } from '#judge/sides/outcome.ts'
import type { Destination, Outcome, Outcomes } from '#judge/sides/outcome.ts'
import type { Endpoint, FamilyMovement, Flow, MemberTraffic } from '#judge/document/model.ts'

/** Answers of one side: a `Chooser`, or the same answer for every client. */
export interface Giver {
  readonly reach: Reach
  readonly choose: (words: Int32Array, isIpv6: boolean) => Outcome
  readonly ofNetworks: () => Outcome
  readonly forNetworks: (first: Int32Array, isIpv6: boolean) => (words: Int32Array) => Outcome
}

export interface MovementLimits {
  /** How many client networks are asked one by one; of more, so many are chosen. */
  readonly networksMax: number
  /** The same limit for scripts that see each address. */
  readonly scriptRunsMax: number
}

export interface PlaceNames {
  readonly country: (row: number) => string
  readonly operator: (row: number) => string
}

/** How places are listed in an answer. */
interface PlaceListing extends PlaceNames {
  /** How many places are listed; others are counted. */
  readonly placesMax: number
}

/** Standard deviations that cover the error in 19 of 20 plans. */
const deviations = 1.96

interface Summed {
  /** True also when the clients with another answer have no weight. */
  readonly isDifferent: boolean
  readonly movement: FamilyMovement
  /** Moved shares by country; null: there is no database. */
  readonly byCountry: MovedByPlace | null
  /** How many clients were asked for, on either side. */
  readonly asked: number
}

/** @returns null: networks would have to be asked one by one, and it is unknown which exist */
export function sumMovement<A extends Address>(
  before: Giver,
  after: Giver,
  partition: Partition<A>,
  outcomes: Outcomes,
  limits: MovementLimits,
  names: PlaceListing,
): Summed | null {
  const sums = new Sums(outcomes, partition.weight.length)
  const wide = walkClasses(before, after, partition, sums)
  const networks = wide.filter(({ reach }) => reach === Reach.Network)
  const addresses = wide.filter(({ reach }) => reach === Reach.Address)
  const isUnknown = partition.ranges === null && partition.sample === undefined
  if (wide.length > 0 && isUnknown) return null
  if (addresses.length > 0 && partition.ranges === null) return null
  askEach(before, after, partition, sums, networks, limits.networksMax)
  askEach(before, after, partition, sums, addresses, limits.scriptRunsMax)
  const total = partition.totalWeight || 1
  // A sum of fractions may exceed the whole by a rounding error.
  const moved = Math.min(1, sums.moved / total)
  const error = deviations * Math.sqrt(sums.variance / total ** 2)
  const { countries, operators } = partition
  const byCountry = countries === null ? null : movedByPlace(partition, countries, sums.movedOf)
  const byOperator = operators === null ? null : movedByPlace(partition, operators, sums.movedOf)
  const inCountries =
    byCountry === null ? noList : placeList(byCountry, total, names.country, names.placesMax)
  const ofOperators =
    byOperator === null ? noList : placeList(byOperator, total, names.operator, names.placesMax)
  const movement = {
    moved: figure(moved),
    differs: figure(Math.min(1, sums.differs / total)),
    error: Math.min(1, error),
    flows: sums.flowList(total),
    members: sums.memberList(total),
    countries: inCountries.places,
    countriesOmitted: inCountries.omitted,
    operators: ofOperators.places,
    operatorsOmitted: ofOperators.omitted,
  }
  const asked = partition.weight.length + sums.asked
  return { isDifferent: sums.hasDifference, movement, byCountry, asked }
}

/** A class in which clients get different answers. */
interface WideClass {
  readonly number: number
  readonly reach: Reach
  /** The outcome before, over all networks of the class, where it differs by network. */
  readonly before: Outcome
  readonly after: Outcome
}

function walkClasses<A extends Address>(
  before: Giver,
  after: Giver,
  { space, weight, first }: Partition<A>,
  sums: Sums,
): readonly WideClass[] {
  const words = new Int32Array(4)
  const isIpv6 = space.name === 'ipv6'
  const wide: WideClass[] = []
  for (let number = 0; number < weight.length; number++) {
    space.toWords(first[number]!, words)
    let one = before.choose(words, isIpv6)
    let other = after.choose(words, isIpv6)
    const reach = Math.max(before.reach, after.reach) as Reach
    if (reach === Reach.Network) {
      if (before.reach === Reach.Network) one = before.ofNetworks()
      if (after.reach === Reach.Network) other = after.ofNetworks()
    }
    const isSettled = reach === Reach.Class || (reach === Reach.Network && one === other)
    if (isSettled) sums.add(number, one, other, weight[number]!)
    else wide.push({ number, reach, before: one, after: other })
  }
  return wide
}

function askEach<A extends Address>(
  before: Giver,
  after: Giver,
  partition: Partition<A>,
  sums: Sums,
  classes: readonly WideClass[],
  most: number,
): void {
  const { space, weight } = partition
  const whole = classes.reduce((sum, { number }) => sum + weight[number]!, 0) || 1
  const words = new Int32Array(4)
  const isIpv6 = space.name === 'ipv6'
  for (const { number, reach, before: was, after: is } of classes) {
    const own = Math.max(fewest, Math.floor((most * weight[number]!) / whole))
    const isAll = reach === Reach.Network && doAllMove(was, is)
    const isSampled = partition.ranges === null
    if (isAll && (isSampled || hasMoreNetworks(partition, number, own))) {
      sums.add(number, was, is, weight[number]!)
      continue
    }
    const chosen = isSampled ? partition.sample!(most)[number]! : undefined
    const probes = chosen ?? networksOf(partition, number, own)
    words.set(probes.words.subarray(0, 4))
    const one = askedIn(before, reach, words, isIpv6)
    const other = askedIn(after, reach, words, isIpv6)
    let moving = 0
    sums.asked += probes.count
    for (let i = 0; i < probes.count; i++) {
      for (let word = 0; word < 4; word++) words[word] = probes.words[i * 4 + word]!
      moving += sums.add(number, one(words), other(words), probes.weights[i]!)
    }
    if (probes.isWhole && reach === Reach.Network) continue
    // Two moved and two unmoved are added, after Agresti and Coull: a sample without a move does
    // not prove that none moves.
    const asked = probes.count
    const part = (moving + 2) / (asked + 4)
    sums.variance += (weight[number]! ** 2 * part * (1 - part)) / (asked + 4)
  }
}

/** Whether the outcomes share no member, so that all clients move and none has to be asked. */
const doAllMove = (before: Outcome, after: Outcome): boolean =>
  before.shares.every(({ destination }) =>
    after.shares.every((other) => other.destination !== destination),
  )

/** The outcomes of a side for the clients of a class, one by one. */
function askedIn(
  giver: Giver,
  reach: Reach,
  first: Int32Array,
  isIpv6: boolean,
): (words: Int32Array) => Outcome {
  if (reach !== Reach.Network) return (words) => giver.choose(words, isIpv6)
  const outcome = giver.choose(first, isIpv6)
  return giver.reach === Reach.Class ? () => outcome : giver.forNetworks(first, isIpv6)
}

/** The least number of networks to ask, even in a class of little weight. */
const fewest = 64

/** An outcome before, an outcome after, and the share of clients that moves between them. */
interface Pair {
  readonly before: Outcome
  readonly after: Outcome
  readonly part: number
  weight: number
}

class Sums {
  /** How many networks and addresses were asked one by one. */
  asked = 0
  moved = 0
  differs = 0
  variance = 0
  /** By class: the share that moves. */
  readonly movedOf: Float64Array
  hasDifference = false
  readonly #outcomes: Outcomes
  /** By the number of the outcome before, and of the one after. */
  readonly #pairs = new Map<number, Map<number, Pair>>()

  constructor(outcomes: Outcomes, classes: number) {
    this.#outcomes = outcomes
    this.movedOf = new Float64Array(classes)
  }

  /** @returns the share that moves */
  add(number: number, before: Outcome, after: Outcome, weight: number): number {
    const pair = this.#pairOf(before, after)
    pair.weight += weight
    if (before === after) return 0
    this.hasDifference = true
    const { part } = pair
    this.differs += weight
    this.moved += weight * part
    this.movedOf[number]! += weight * part
    return part
  }

  /** Nested, since a number made of both would exceed the small integers that maps find fastest. */
  #pairOf(before: Outcome, after: Outcome): Pair {
    let pairs = this.#pairs.get(before.number)
    if (pairs === undefined) this.#pairs.set(before.number, (pairs = new Map<number, Pair>()))
    let pair = pairs.get(after.number)
    if (pair === undefined) {
      const isNobody = this.#isNowhere(before) && this.#isNowhere(after)
      const part = before === after || isNobody ? 0 : movedBetween(before, after)
      pairs.set(after.number, (pair = { before, after, part, weight: 0 }))
    }
    return pair
  }

  /** A change between two ways of answering nothing moves nobody. */
  #isNowhere({ shares }: Outcome): boolean {
    return shares.every(({ destination }) => isNowhere(this.#outcomes.destinations[destination]!))
  }

  memberList(total: number): MemberTraffic[] {
    const shares = new Map<number, { before: number; after: number }>()
    const at = (destination: number): { before: number; after: number } => {
      let share = shares.get(destination)
      if (share === undefined) shares.set(destination, (share = { before: 0, after: 0 }))
      return share
    }
    for (const { before, after, weight } of this.#each()) {
      for (const one of before.shares) at(one.destination).before += weight * one.probability
      for (const one of after.shares) at(one.destination).after += weight * one.probability
    }
    return [...shares]
      .map(([destination, { before, after }]) => ({
        ...this.#endpoint(destination),
        before: before / total,
        after: after / total,
      }))
      .sort((one, other) => other.after - one.after || other.before - one.before)
  }

  /**
   * Clients that need not move stay; the others move in proportion to the growth of destinations.
   */
  flowList(total: number): Flow[] {
    const groups = new Groups(this.#outcomes)
    const flows = this.#flows(groups, false) ?? this.#flows(groups, true)!
    return [...flows]
      .map(([key, weight]) => ({
        from: groups.endpoint(Math.floor(key / flowBase)),
        to: groups.endpoint(key % flowBase),
        share: weight / total,
      }))
      .sort((one, other) => other.share - one.share)
  }

  /** @returns null: there are too many flows between members */
  #flows(groups: Groups, byPool: boolean): ReadonlyMap<number, number> | null {
    const flows = new Map<number, number>()
    const grouped = (parts: Parts): Parts => (byPool ? groups.byPool(parts) : parts)
    for (const { before, after, weight, part: moved } of this.#each()) {
      if (moved === 0) continue
      const more = grouped(surplus(after, before))
      for (const [from, less] of grouped(surplus(before, after))) {
        for (const [to, part] of more) {
          const key = from * flowBase + to
          flows.set(key, (flows.get(key) ?? 0) + (weight * less * part) / moved)
        }
        if (!byPool && flows.size > flowsMax) return null
      }
    }
    return flows
  }

  *#each(): Generator<Pair> {
    for (const pairs of this.#pairs.values()) yield* pairs.values()
  }

  #endpoint(destination: number): Endpoint {
    return endpointOf(this.#outcomes.destinations[destination]!)
  }
}

/** Factor that joins two keys in one number. */
const flowBase = 0x400_0000
/**
 * Flows that are listed: enough for some answers of 64 by 64 members, too few for 4,096 by 4,096.
 */
const flowsMax = 4_096

type Parts = readonly (readonly [number, number])[]

const endpointOf = ({ member, pool, region }: Destination): Endpoint => ({ member, pool, region })

/** Groups destinations by pool; groups have numbers above those of all destinations. */
class Groups {
  readonly #outcomes: Outcomes
  readonly #pools: Endpoint[] = []
  readonly #numbers = new Map<string, number>()

  constructor(outcomes: Outcomes) {
    this.#outcomes = outcomes
  }

  /** Adds up members of the same pool; a destination without a member stays. */
  byPool(parts: Parts): Parts {
    const sums = new Map<number, number>()
    for (const [destination, part] of parts) {
      const one = this.#outcomes.destinations[destination]!
      const number = isNowhere(one) ? destination : this.#numberOf(one)
      sums.set(number, (sums.get(number) ?? 0) + part)
    }
    return [...sums]
  }

  endpoint(number: number): Endpoint {
    const { destinations } = this.#outcomes
    const group = this.#pools[number - destinations.length]
    return group ?? endpointOf(destinations[number]!)
  }

  #numberOf({ pool, tenant }: Destination): number {
    const key = JSON.stringify([tenant, pool])
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#outcomes.destinations.length + this.#pools.length
      this.#pools.push({ member: '', pool, region: '' })
      this.#numbers.set(key, number)
    }
    return number
  }
}

/** The least share of clients that has to move: half of the sum of all differences. */
function movedBetween(before: Outcome, after: Outcome): number {
  let moved = 0
  for (const [, more] of surplus(before, after)) moved += more
  // Six times a sixth is not exactly one.
  if (moved > 1 - least) return 1
  return moved < least ? 0 : moved
}

/** A smaller difference is a rounding error. */
const least = 1e-12

/** By destination: how much more `one` sends there than `other`. */
function surplus(one: Outcome, other: Outcome): Parts {
  const others = new Map(
    other.shares.map(({ destination, probability }) => [destination, probability]),
  )
  return one.shares.flatMap(({ destination, probability }) => {
    const more = probability - (others.get(destination) ?? 0)
    return more > least ? [[destination, more] as const] : []
  })
}
