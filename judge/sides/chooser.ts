// Finds out which members a service gives a client: runs its own steps, and computes what rotation
// or chance would do.
import { poolOfService, serviceCell, uidOf } from '#bundle/format/bundle.ts'
import * as clientRanges from '#bundle/format/client-ranges.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { isAlias } from '#bundle/format/hostnames.ts'
import { firstPolicyCode, OnAllDownCode } from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { loadCandidates, preferByGeoRule } from '#routing/choose/choose.ts'
import type { Policy } from '#routing/choose/policy.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import type { Way } from '#routing/choose/way.ts'
import { wayOfCode } from '#routing/choose/ways.ts'
import type { Family } from '#routing/state/query.ts'
import { sticky, stickyWeighted } from '#routing/ways/sticky.ts'
import { networkSource, rangeSource } from '#judge/clients/sources.ts'
import type { ClientSource } from '#judge/clients/cuts.ts'
import { noAddress } from './outcome.ts'
import type { Outcome, Outcomes, Share } from './outcome.ts'
import type { CountedRandom, Side } from './side.ts'

const { mapTable } = clientRanges

/** For which clients an outcome holds, besides the one that was asked for. */
export const Reach = {
  /** All clients that no table distinguishes. */
  Class: 0,
  /** All clients of the same network. */
  Network: 1,
  /** The one address, since a script has seen it. */
  Address: 2,
} as const
export type Reach = (typeof Reach)[keyof typeof Reach]

export class Chooser {
  /** Reach of the last outcome. */
  reach: Reach = Reach.Class
  readonly #side: Side
  readonly #service: number
  readonly #pool: number
  readonly #policy: Policy
  /** True for a plain algorithm, whose fast path looks at no client. */
  readonly #isPlain: boolean
  readonly #ttlSeconds: number
  readonly #outcomes: Outcomes
  readonly #chain: Chain
  readonly #random: CountedRandom
  readonly #family: Family
  readonly #qtype: number
  /** By member: the outcome of an answer that is always this member. */
  readonly #certain = new Map<number, Outcome>()
  /** By candidates: the outcome over all networks. */
  readonly #ofNetworks = new Map<string, Outcome>()
  /** Random choices that were computed last. */
  readonly #draws: Draw[] = []

  constructor(side: Side, service: number, family: Family, qtype: number, outcomes: Outcomes) {
    const { bundle } = side
    this.#side = side
    this.#service = service
    this.#pool = poolOfService(bundle, service)
    const code = serviceCell(bundle, service, NodeCell.Algorithm)
    this.#isPlain = code < firstPolicyCode
    this.#policy = this.#isPlain
      ? plainPolicy(side, wayOfCode(code)!)
      : policyOf(side, code - firstPolicyCode)
    this.#ttlSeconds = serviceCell(bundle, service, NodeCell.TtlSeconds)
    this.#outcomes = outcomes
    this.#family = family
    this.#qtype = qtype
    this.#chain = side.chain
    this.#random = side.random
  }

  /** Services with equal keys choose alike for each client and each name, scripts aside. */
  get key(): string {
    const { bundle } = this.#side
    const code = serviceCell(bundle, this.#service, NodeCell.Algorithm)
    const own = this.runsScript ? this.#service : ''
    return `${this.#pool}/${code}/${this.#ttlSeconds}/${this.#family}/${own}`
  }

  get ways(): readonly Way[] {
    return this.#policy.ways
  }

  get runsScript(): boolean {
    const { scripts } = this.#side.environment
    return scripts !== null && this.#policy.ways.some(({ argument }) => argument === 'BODY')
  }

  /** Steps that need a database to work. */
  get wantsDatabase(): boolean {
    const { geo, asn } = this.#side.environment
    return this.#policy.ways.some(({ needs }) => {
      if (needs.includes('locations')) return geo.location === null
      if (needs.includes('regions')) return geo.country === null
      return needs.includes('asn-rules') && asn === null
    })
  }

  /** Whether a table of the node is used that locates clients. */
  get goesByPlaces(): boolean {
    return this.#policy.ways.some(({ name, needs }) => {
      const isPlaced = needs.includes('locations') || needs.includes('asn-rules')
      return isPlaced || goesByRegion(name, needs)
    })
  }

  /** Whether measurements of browsers are used, which a plan does not have. */
  get isMeasured(): boolean {
    return this.#policy.ways.some(({ feature }) => feature === 'rum-routing')
  }

  /** Tables of clients by which the choice may be made. */
  sources(): readonly ClientSource[] {
    if (this.#isPlain || this.#pool < 0) return []
    const { bundle, tables } = this.#side
    const { geo, asn } = tables
    const regions = tables.regions ?? geo.country
    const sources: ClientSource[] = []
    const { fallbackPool, ways } = this.#policy
    for (const pool of [this.#pool, ...(fallbackPool < 0 ? [] : [fallbackPool])]) {
      const table = bundle.poolNetworks[pool]! - 1
      if (table >= 0) sources.push(networkSource(bundle, table))
    }
    for (const { name, needs } of ways) {
      if (needs.includes('map-rules')) sources.push(networkSource(bundle, mapTable))
      if (needs.includes('asn-rules') && asn !== null) sources.push(rangeSource(asn.ranges))
      if (needs.includes('locations') && geo.location !== null) {
        sources.push(rangeSource(geo.location.ranges))
      }
      if (goesByRegion(name, needs) && regions !== null) sources.push(rangeSource(regions.ranges))
    }
    return sources
  }

  /** @param words of the client's address, as in `Client` */
  choose(words: Int32Array, isIpv6: boolean): Outcome {
    const [chain, policy] = [this.#chain, this.#policy]
    this.reach = Reach.Class
    if (this.#pool < 0) return this.#none()
    chain.serviceIndex = this.#service
    chain.family = this.#family
    chain.qtype = this.#qtype
    chain.qnameBytes = this.#side.tx.qnameBytes
    chain.client.setWords(words, isIpv6)
    chain.startScope()
    chain.answerCount = policy.answerCount
    loadCandidates(chain, policy, this.#pool)
    if (chain.count === 0) return this.#none()
    if (!this.#isPlain && preferByGeoRule(chain)) return this.#fixed()
    for (const [i, step] of policy.steps.entries()) {
      const way = policy.ways[i]!
      const { count } = chain
      if (count > 1 && isSticky(way) && this.reach === Reach.Class) this.reach = Reach.Network
      const draws = this.#random.draws
      const turn = this.#turn
      step(chain)
      if (way.argument === 'BODY') {
        if (this.runsScript) this.reach = Reach.Address
      } else if (this.#turn !== turn) return this.#inTurn()
      else if (this.#random.draws !== draws) return this.#drawn()
    }
    return this.#fixed()
  }

  /**
   * The outcome over all networks of the class, after `choose` with the reach of a network. Equal
   * outcomes are equal for each network.
   */
  ofNetworks(): Outcome {
    const [chain, policy] = [this.#chain, this.#policy]
    const at = this.#runUntilSticky()
    const key = chain.members.subarray(0, chain.count).join()
    let known = this.#ofNetworks.get(key)
    if (known === undefined) {
      const isWeighted = policy.ways[at] === stickyWeighted
      this.#ofNetworks.set(key, (known = this.#sharedOut(isWeighted)))
    }
    return known
  }

  /**
   * Runs the steps before the sticky one, and leaves its candidates in the chain.
   *
   * @returns which step is sticky
   */
  #runUntilSticky(): number {
    const [chain, policy] = [this.#chain, this.#policy]
    loadCandidates(chain, policy, this.#pool)
    const at = policy.ways.findIndex(isSticky)
    for (const step of policy.steps.slice(0, at)) step(chain)
    return at
  }

  #sharedOut(isWeighted: boolean): Outcome {
    const chain = this.#chain
    const { bundle, state } = this.#side
    const listed = this.#listed(chain.count)
    const weights = listed.map((_, i) => (isWeighted ? state.memberShare[chain.members[i]!]! : 1))
    const sum = weights.reduce((all, one) => all + one, 0)
    const uids = listed.map((_, i) => uidOf(bundle.memberUid, chain.members[i]!))
    // The order of networks does not matter, so they are sorted for the key.
    const weighed = listed.map((one, i) => `${one} ${uids[i]} ${weights[i]}`).sort()
    return this.#outcomes.of(`networks ${this.#ttlSeconds} ${weighed.join()}`, () =>
      listed.map((destination, i) => ({ destination, probability: weights[i]! / sum })),
    )
  }

  /**
   * Returns a function like `choose` for the networks of a class, after `choose` has returned the
   * reach of a network. Steps before the sticky one leave the same candidates for each network, and
   * run once. Valid until this side is asked something else.
   *
   * @param first words of an address of the class
   */
  forNetworks(first: Int32Array, isIpv6: boolean): (words: Int32Array) => Outcome {
    const [chain, policy] = [this.#chain, this.#policy]
    this.choose(first, isIpv6)
    const at = this.#runUntilSticky()
    if (at < policy.ways.length - 1) return (words) => this.choose(words, isIpv6)
    const { client, members } = chain
    const candidates = members.slice(0, chain.count)
    const step = policy.steps[at]!
    return (words) => {
      client.setWords(words, isIpv6)
      for (let i = 0; i < candidates.length; i++) members[i] = candidates[i]!
      chain.count = candidates.length
      step(chain)
      return this.#fixed()
    }
  }

  get #turn(): number {
    return this.#side.state.serviceCursor[this.#service * 2 + this.#family]!
  }

  #none(): Outcome {
    const none = { member: noAddress, pool: '', tenant: '', region: '' }
    return this.#outcomes.of('none', () => [
      { destination: this.#outcomes.destination(none), probability: 1 },
    ])
  }

  /** Number of addresses in an answer: RFC 2181 section 10.1 permits one alias. */
  #answerCount(): number {
    const { members, count } = this.#chain
    const { bundle } = this.#side
    if (bundle.hasHostnames && isAlias(bundle, members[0]!)) return 1
    return Math.min(count, this.#policy.answerCount)
  }

  #fixed(): Outcome {
    const { members } = this.#chain
    const count = this.#answerCount()
    if (count > 1) return this.#outcomeOf('fixed', this.#listed(count), [1])
    const known = this.#certain.get(members[0]!)
    if (known !== undefined) return known
    const outcome = this.#outcomeOf('fixed', this.#listed(1), [1])
    this.#certain.set(members[0]!, outcome)
    return outcome
  }

  /** Round robin: each candidate is first equally often, with those after it in order. */
  #inTurn(): Outcome {
    const { count } = this.#chain
    const listed = this.#listed(count)
    const least = listed.indexOf(Math.min(...listed))
    const round = [...listed.slice(least), ...listed.slice(0, least)]
    // For answers of one address, the order of the rotation does not matter.
    const answered = this.#answerCount() > 1 ? round : round.sort((a, b) => a - b)
    const kind = count === 1 ? 'fixed' : 'turns'
    return this.#outcomeOf(
      kind,
      answered,
      answered.map(() => 1 / count),
    )
  }

  /**
   * The step has left a weight beside each candidate. Groups of equal candidates follow each other.
   */
  #drawn(): Outcome {
    const { members, keys, count } = this.#chain
    const same = this.#draws.find((one) => isSameDraw(one, members, keys, count))
    if (same !== undefined) return same.outcome
    const outcome = this.#newDraw()
    if (this.#draws.length === drawsMax) this.#draws.shift()
    const [listed, weights] = [members.slice(0, count), keys.slice(0, count)]
    this.#draws.push({ members: listed, keys: weights, outcome })
    return outcome
  }

  #newDraw(): Outcome {
    const { keys, count } = this.#chain
    const listed = this.#listed(count)
    let sum = 0
    for (let i = 0; i < count; i++) sum += keys[i]!
    const order = [...listed.keys()].sort((a, b) => listed[a]! - listed[b]! || keys[a]! - keys[b]!)
    const ordered = order.map((at) => listed[at]!)
    const parts = order.map((at) => keys[at]! / sum)
    return this.#outcomeOf(count === 1 ? 'fixed' : 'drawn', ordered, parts)
  }

  #listed(count: number): number[] {
    const { bundle } = this.#side
    return Array.from(this.#chain.members.subarray(0, count), (member) =>
      this.#outcomes.destinationOf(bundle, member),
    )
  }

  /** @param parts probability of each of `listed` to be first; that of others is 0 */
  #outcomeOf(kind: string, listed: readonly number[], parts: readonly number[]): Outcome {
    // Rounded, since sums of the same weights in another order differ in their last digits.
    const rounded = parts.map((part) => part.toPrecision(12))
    const count = this.#answerCount()
    const key = `${kind} ${this.#ttlSeconds} ${count} ${listed.join()} ${rounded.join()}`
    return this.#outcomes.of(key, () =>
      parts.map((probability, i): Share => ({ destination: listed[i]!, probability })),
    )
  }
}

const isSticky = (way: Way): boolean => way === sticky || way === stickyWeighted

const goesByRegion = (name: string, needs: Way['needs']): boolean =>
  needs.includes('regions') || name === 'latency'

/** Comparing with a few costs less than computing one again. */
const drawsMax = 16

interface Draw {
  readonly members: ArrayLike<number>
  readonly keys: ArrayLike<number>
  readonly outcome: Outcome
}

function isSameDraw(
  draw: Draw,
  members: ArrayLike<number>,
  keys: ArrayLike<number>,
  count: number,
): boolean {
  if (draw.members.length !== count) return false
  for (let i = 0; i < count; i++) {
    if (draw.members[i] !== members[i] || draw.keys[i] !== keys[i]) return false
  }
  return true
}

function policyOf({ tx }: Side, row: number): Policy {
  return tx.view!.policies[row]!
}

function plainPolicy({ environment }: Side, way: Way): Policy {
  const none = { onAllDown: OnAllDownCode.Empty, fallbackPool: -1, answerCount: 1, byTable: null }
  const ways = [way]
  const isWeighted = dividesByWeight(ways)
  return { ways, steps: [way.bind(environment, '')], isWeighted, ...none }
}
