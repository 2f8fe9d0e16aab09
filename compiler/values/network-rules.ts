// Resolves network rules to disjoint ranges, each with the members that it prefers.
import { bundleLimits } from '#bundle/format/limits.ts'
import type { ClientRange, ClientRanges } from '#bundle/format/model.ts'
import { disjointRanges } from '#routing/tables/cidr.ts'
import type { Cidr, DisjointRange } from '#routing/tables/cidr.ts'

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
  const { v4, v6 } = disjointRanges(
    rules,
    ({ network }) => network,
    (own, outer: Preferred | undefined): Preferred => {
      const preferred = rulesOf(work, own, outer?.rules ?? [])
      return { rules: preferred, endpoints: preferred.map(({ endpoint }) => endpoint) }
    },
  )
  return { ranges: { v4: v4.map(clientRange), v6: v6.map(clientRange) }, ...work }
}

/** The rules that hold a client, the first to be tried first, no member twice. */
interface Preferred {
  readonly rules: readonly NetworkRule[]
  readonly endpoints: readonly string[]
}

function clientRange<Address>({
  start,
  end,
  value: { endpoints },
}: DisjointRange<Address, Preferred>): ClientRange<Address> {
  return { start, end, endpoints }
}

interface Work {
  readonly order: RuleOrder
  readonly ahead: Map<NetworkRule, readonly NetworkRule[]>
  readonly redundant: Map<NetworkRule, NetworkRule>
  crowded: NetworkRule | undefined
}

/** @param own the rules of one network @param outer those of the network around it, in order */
function rulesOf(
  work: Work,
  own: readonly NetworkRule[],
  outer: readonly NetworkRule[],
): readonly NetworkRule[] {
  const { order, ahead, redundant } = work
  const kept = new Map<string, NetworkRule>()
  for (const rule of own.toSorted((a, b) => inOrder(order, a, b))) {
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

/** Compares rules for one network by priority; with `first-rule`, any rules by their position. */
function inOrder(order: RuleOrder, a: NetworkRule, b: NetworkRule): number {
  return (order === 'longest-prefix' ? a.priority - b.priority : 0) || a.index - b.index
}
