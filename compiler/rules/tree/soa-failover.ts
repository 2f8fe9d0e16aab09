// Finds an SOA minimum longer than the pools need to fail over.
import { soaDefaults } from '#schemas/objects/zone.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import { checkName } from '#compiler/values/names.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree } from '#compiler/tree/tree.ts'
import { soaMinimumSecondsMax } from '#compiler/rules/object/soa-minimum.ts'

export const soaFailover: TreeRule = {
  name: 'soa-failover',
  check({ tree, zones }, report) {
    const { settings } = tree
    if (settings === undefined || zones === undefined) return
    const pathOf = minimumPaths(settings)
    const fastest = new Map<YamlPath, Failover & { readonly minimumSeconds: number }>()
    for (const [i, service] of tree.of.Service.entries()) {
      const zone = zones.zones[zones.zoneOfService[i]!]
      if (zone === undefined) continue
      const { minimumSeconds } = zone.soa
      // Larger ones have their own message; what the product itself would take is small enough.
      if (minimumSeconds > soaMinimumSecondsMax || minimumSeconds <= soaDefaults.minimum) continue
      const path = pathOf(zone.isImplied ? undefined : zone.name)
      if (path === undefined) continue
      const failover = failoverOf(tree, service)
      if (failover === undefined || minimumSeconds * 1_000 <= failover.ms) continue
      if ((fastest.get(path)?.ms ?? Infinity) <= failover.ms) continue
      fastest.set(path, { ...failover, minimumSeconds })
    }
    for (const [path, { minimumSeconds, ms, pool }] of fastest) {
      const args = [String(minimumSeconds), pool, String(Math.ceil(ms / 1_000))]
      report('soa-minimum-above-failover', placeIn(settings, valueAt(...path)), { args })
    }
  },
}

interface Failover {
  readonly ms: number
  readonly pool: string
}

/** Undefined when the service never says "no records" because its members are down. */
function failoverOf(tree: Tree, { object, tenant }: Entry<'Service'>): Failover | undefined {
  const { pool: name, onAllDown } = object.spec
  const pool = name === null ? undefined : tree.poolNamed.get(name)
  const check = pool?.object.spec.healthCheck
  if (name === null || pool?.tenant !== tenant || check === undefined) return undefined
  if (onAllDown !== 'empty') return undefined
  // A score is above 0 until every probe of its window has failed.
  const failures = check.scoreWindow > 0 ? check.scoreWindow : check.fallCount
  return { ms: check.intervalMs * failures + check.timeoutMs, pool: name }
}

/**
 * Where the minimum of a zone is written, by its name; without a name: that of the defaults.
 */
function minimumPaths({
  object: { spec },
}: Entry<'Settings'>): (zone: string | undefined) => YamlPath | undefined {
  const paths = new Map<string, YamlPath>()
  for (const [i, { name, soa }] of spec.zones.entries()) {
    const { key } = checkName(name, false)
    if (key === undefined || soa?.minimum === undefined) continue
    paths.set(key, ['spec', 'zones', i, 'soa', 'minimum'])
  }
  const hasDefault = spec.defaults?.soa?.minimum !== undefined
  const common: YamlPath | undefined = hasDefault
    ? ['spec', 'defaults', 'soa', 'minimum']
    : undefined
  return (zone) => (zone === undefined ? common : (paths.get(zone) ?? common))
}
