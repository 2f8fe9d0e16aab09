// Checks that addresses in the routing settings are those of members, and that every map rule can
// match.
import { memberAddresses } from '#compiler/lower/routing-facts.ts'
import { mapRulesOf } from '#compiler/lower/routing-model.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import type { NetworkRule } from '#compiler/values/network-rules.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'

export const routingEndpoints: TreeRule = ({ tree }, report) => {
  const { settings, faulty } = tree
  // A pool that could not be read may have the member.
  if (settings === undefined || faulty.poolNames.size > 0 || faulty.anyPool.size > 0) return
  const named = namedEndpoints(settings)
  if (named.length === 0) return
  const poolsOf = poolsByAddress(tree, new Set(named.map(({ endpoint }) => endpoint)))
  for (const { endpoint, place } of named) {
    if (poolsOf.get(endpoint)!.size > 0) continue
    report('endpoint-unknown', placeIn(settings, place), { args: [endpoint] })
  }
  reportShadowed(settings, poolsOf, report)
}

interface NamedEndpoint {
  readonly endpoint: string
  readonly place: Place
}

function namedEndpoints({ object: { spec } }: Entry<'Settings'>): readonly NamedEndpoint[] {
  const texts: [text: string, place: Place][] = []
  for (const [i, { endpoint }] of (spec.mapFile?.rules ?? []).entries()) {
    texts.push([endpoint, valueAt('spec', 'mapFile', 'rules', i, 'endpoint')])
  }
  for (const [i, { endpoint }] of (spec.asn?.rules ?? []).entries()) {
    texts.push([endpoint, valueAt('spec', 'asn', 'rules', i, 'endpoint')])
  }
  for (const address of Object.keys(spec.geoip?.endpointLocations ?? {})) {
    texts.push([address, keyAt('spec', 'geoip', 'endpointLocations', address)])
  }
  return texts.flatMap(([text, place]) => {
    const { canonical } = checkAddress(text)
    return canonical === undefined ? [] : [{ endpoint: canonical, place }]
  })
}

/** Positions in `tree.of.Pool`. */
function poolsByAddress(
  tree: Tree,
  addresses: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<number>> {
  const pools = new Map(
    [...addresses].map((address): [string, Set<number>] => [address, new Set()]),
  )
  for (const [i, entry] of tree.of.Pool.entries()) {
    for (const address of memberAddresses(entry)) {
      pools.get(address)?.add(i)
    }
  }
  return pools
}

/** Addresses in more pools are not checked, to bound the work. */
const poolsMax = 16

/** Reports a smaller network after a larger one, for each pool that has the member. */
function reportShadowed(
  settings: Entry<'Settings'>,
  poolsOf: ReadonlyMap<string, ReadonlySet<number>>,
  report: TreeReport,
): void {
  const rules = settings.object.spec.mapFile?.rules ?? []
  const { ahead, redundant } = mapRulesOf(settings)
  for (const [rule, before] of ahead) {
    if (redundant.has(rule)) continue
    const pools = poolsOf.get(rule.endpoint)!
    if (pools.size === 0 || pools.size > poolsMax) continue
    const larger = before.filter(({ network }) => network.prefixBits < rule.network.prefixBits)
    const hiding = [...pools].map((pool) =>
      larger.find((other: NetworkRule) => poolsOf.get(other.endpoint)!.has(pool)),
    )
    const [first] = hiding
    if (first === undefined || hiding.includes(undefined)) continue
    const cidr = (index: number) => valueIn(settings, 'spec', 'mapFile', 'rules', index, 'cidr')
    const args = [rules[rule.index]!.cidr, first.endpoint, rules[first.index]!.cidr]
    report('map-rule-shadowed', cidr(rule.index), { args, other: cidr(first.index) })
  }
}
