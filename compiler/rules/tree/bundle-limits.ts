// A node can load what the tree becomes.
import { keyAt } from '#compiler/diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { PlacedFile } from '#compiler/tree/tree.ts'

export const bundleLimitsKept: TreeRule = {
  name: 'bundle-limits',
  check({ tree, zones, responses, limits }, report) {
    const members = tree.pools.reduce((sum, { object }) => sum + object.spec.members.length, 0)
    const anywhere = tree.services[0] ?? tree.pools[0]
    const counts: [what: string, count: number, max: number, at: PlacedFile | undefined][] = [
      ['zones', zones?.zones.length ?? 0, limits.zonesMax, tree.settings ?? anywhere],
      ['services', tree.services.length, limits.servicesMax, tree.services.at(limits.servicesMax)],
      ['pools', tree.pools.length, limits.poolsMax, tree.pools.at(limits.poolsMax)],
      ['rollouts', tree.rollouts.length, limits.rolloutsMax, tree.rollouts.at(-1)],
      ['maintenance windows', tree.windows.length, limits.windowsMax, tree.windows.at(-1)],
      ['members', members, limits.membersMax, tree.pools.at(-1)],
      [
        'response rules',
        responses.rules.length,
        limits.responseRulesMax,
        tree.responsePolicies.at(-1),
      ],
    ]
    for (const [what, count, max, at] of counts) {
      if (count <= max || at === undefined) continue
      report('limit-exceeded', placeIn(at, keyAt()), { args: [String(count), what, String(max)] })
    }
  },
}
