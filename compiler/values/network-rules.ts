// Resolves network rules to disjoint ranges, each with its preferred members.
import { bundleLimits } from '#bundle/format/limits.ts'
import type { ClientRange, ClientRanges } from '#bundle/format/model.ts'
import { disjointRanges } from '#routing/tables/cidr.ts'
import type { Cidr, DisjointRange } from '#routing/tables/cidr.ts'

export interface NetworkRule {
  /** Position in its list. */
  readonly index: number
  readonly network: Cidr
  /** Canonical address. */
  readonly endpoint: string
  /** Among equal prefixes the lower goes first; the same for all rules of a map. */
  readonly priority: number
}

/** The precedence among rules that match a client: longest prefix, or order in the file. */
type RuleOrder = 'longest-prefix' | 'first-rule'

export interface Arrangement {
  readonly ranges: ClientRanges
  /** For each rule, the rules that precede it for every client of its network. */
  readonly ahead: ReadonlyMap<NetworkRule, readonly NetworkRule[]>
  /** Rules without effect, each with the rule that has the same effect. */
  readonly redundant: ReadonlyMap<NetworkRule, NetworkRule>
  /** A rule whose clients have more preferred members than a bundle holds. */
  readonly crowded: NetworkRule | undefined
}

/**
 * Takes the time of sorting the rules. A list has each member once, in the order in which they are
 * tried: a rule whose member is down leaves the client to the next rule.
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

/** The rules that match a client in order, without repeated members. */
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

/**
 * @param own rules of one network
 * @param outer rules of the enclosing network, in order
 */
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
    // An outer rule for the same member that comes first makes this one redundant.
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
 * By prefix, inner networks append the list of the outer one, so it is enough that the list stays
 * the same. By file order a rule also counts in inner networks, whatever lies between.
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

/** Compares rules of one network by priority; with `first-rule`, any rules by position. */
function inOrder(order: RuleOrder, a: NetworkRule, b: NetworkRule): number {
  return (order === 'longest-prefix' ? a.priority - b.priority : 0) || a.index - b.index
}
