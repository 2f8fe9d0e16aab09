// Rules that send client networks to members, as disjoint ranges that say whom each client prefers.
import { bundleLimits } from '#bundle/limits.ts'
import type { ClientRange, ClientRanges } from '#bundle/model.ts'
import type { Cidr } from '#routing/geo/cidr.ts'

export interface NetworkRule {
  /** Position in its file. */
  readonly index: number
  readonly network: Cidr
  /** Canonical address. */
  readonly endpoint: string
  /** The lower goes first among equal prefixes; the same for all rules of a map. */
  readonly priority: number
}

/** Which of the rules that hold a client goes first: the most precise one, or that of the file. */
export type RuleOrder = 'longest-prefix' | 'first-rule'

export interface Arrangement {
  readonly ranges: ClientRanges
  /** For each rule, those that go before it for every client of its network. */
  readonly ahead: ReadonlyMap<NetworkRule, readonly NetworkRule[]>
  /** Rules without which nothing would change, each with the rule that does the same. */
  readonly redundant: ReadonlyMap<NetworkRule, NetworkRule>
  /** A rule whose clients have more members to prefer than a bundle holds. */
  readonly crowded: NetworkRule | undefined
}

/**
 * Takes as long as it takes to sort the rules. A list of members has each of them once, in the
 * order in which they are tried: a rule whose member is down leaves the client to the next rule.
 */
export function arrangeRules(rules: readonly NetworkRule[], order: RuleOrder): Arrangement {
  const work: Work = {
    order,
    ahead: new Map(),
    redundant: new Map(),
    crowded: undefined,
  }
  const nested4: Nested<number>[] = []
  const nested6: Nested<bigint>[] = []
  for (const rule of rules) {
    const { octets, prefixBits } = rule.network
    const view = new DataView(octets.buffer, octets.byteOffset)
    if (octets.length === 4) {
      const start = view.getUint32(0)
      nested4.push({ rule, start, end: start + 2 ** (32 - prefixBits) - 1 })
    } else {
      const start = (view.getBigUint64(0) << 64n) | view.getBigUint64(8)
      nested6.push({ rule, start, end: start + (1n << BigInt(128 - prefixBits)) - 1n })
    }
  }
  const v4 = flatten(work, nested4, (address, step) => address + step)
  const v6 = flatten(work, nested6, (address, step) => address + BigInt(step))
  return { ranges: { v4, v6 }, ...work }
}

interface Work {
  readonly order: RuleOrder
  readonly ahead: Map<NetworkRule, readonly NetworkRule[]>
  readonly redundant: Map<NetworkRule, NetworkRule>
  crowded: NetworkRule | undefined
}

interface Nested<Address> {
  readonly rule: NetworkRule
  readonly start: Address
  readonly end: Address
}

/** A network with the rules that hold its clients, the first to be tried first, no member twice. */
interface Open<Address> {
  readonly start: Address
  readonly end: Address
  readonly rules: readonly NetworkRule[]
  readonly endpoints: readonly string[]
}

/**
 * Two networks are apart or one holds the other, so a stack of the open ones is enough.
 *
 * @param move the address `step` away
 */
function flatten<Address extends number | bigint>(
  work: Work,
  nested: Nested<Address>[],
  move: (address: Address, step: 1 | -1) => Address,
): ClientRange<Address>[] {
  nested.sort(
    (a, b) =>
      compare(a.start, b.start) ||
      a.rule.network.prefixBits - b.rule.network.prefixBits ||
      inOrder(work.order, a.rule, b.rule),
  )
  const ranges: ClientRange<Address>[] = []
  const open: Open<Address>[] = []
  let from: Address | undefined
  const emit = (end: Address, endpoints: readonly string[]): void => {
    if (from !== undefined && from <= end) ranges.push({ start: from, end, endpoints })
  }
  const close = (): void => {
    const { end, endpoints } = open.pop()!
    emit(end, endpoints)
    from = move(end, 1)
  }
  for (let at = 0; at < nested.length;) {
    const { start, end } = nested[at]!
    const own: NetworkRule[] = []
    for (; nested[at]?.start === start && nested[at]?.end === end; at++) own.push(nested[at]!.rule)
    while (open.length > 0 && open.at(-1)!.end < start) close()
    const outer = open.at(-1)
    if (outer !== undefined) emit(move(start, -1), outer.endpoints)
    from = start
    const rules = rulesOf(work, own, outer?.rules ?? [])
    open.push({ start, end, rules, endpoints: rules.map(({ endpoint }) => endpoint) })
  }
  while (open.length > 0) close()
  return ranges
}

/** @param own the rules of one network, in order @param outer those of the network around it */
function rulesOf(
  work: Work,
  own: readonly NetworkRule[],
  outer: readonly NetworkRule[],
): readonly NetworkRule[] {
  const { order, ahead, redundant } = work
  const kept = new Map<string, NetworkRule>()
  for (const rule of own) {
    const same = kept.get(rule.endpoint)
    if (same === undefined) kept.set(rule.endpoint, rule)
    else redundant.set(rule, same)
  }
  const candidates = [...kept.values()].slice(0, listMax + 1)
  const merged = [...candidates, ...outer]
  if (order === 'first-rule') merged.sort((a, b) => inOrder(order, a, b))
  const rules = distinct(merged)
  for (const rule of candidates) {
    // Where an outer rule for the same member comes first, that one stands for both.
    const place = rules.findIndex(({ endpoint }) => endpoint === rule.endpoint)
    ahead.set(rule, rules.slice(0, rules[place] === rule ? place : place + 1))
    const twin = merged.find((other) => other !== rule && other.endpoint === rule.endpoint)
    if (twin !== undefined && isRedundant(work, rule, rules, merged)) redundant.set(rule, twin)
  }
  if (rules.length > listMax) work.crowded ??= rules[listMax]!
  return rules.slice(0, listMax)
}

const listMax = bundleLimits.endpointsPerNetworkMax

/**
 * By prefix, networks inside see the list of the outer one behind their own, so it is enough that
 * the list stays the same. By the order of the file a rule counts inside too, whatever comes
 * between.
 */
function isRedundant(
  { order }: Work,
  rule: NetworkRule,
  rules: readonly NetworkRule[],
  merged: readonly NetworkRule[],
): boolean {
  if (!rules.includes(rule)) return true
  if (order === 'first-rule') return false
  const without = distinct(merged.filter((other) => other !== rule))
  return without.every(({ endpoint }, i) => endpoint === rules[i]!.endpoint)
}

function distinct(rules: readonly NetworkRule[]): readonly NetworkRule[] {
  const seen = new Set<string>()
  return rules.filter(({ endpoint }) => !seen.has(endpoint) && seen.add(endpoint))
}

/** Of rules for one network, or in the order of the file of any. */
function inOrder(order: RuleOrder, a: NetworkRule, b: NetworkRule): number {
  return (order === 'longest-prefix' ? a.priority - b.priority : 0) || a.index - b.index
}

function compare<Address extends number | bigint>(a: Address, b: Address): number {
  return a < b ? -1 : Number(a > b)
}
