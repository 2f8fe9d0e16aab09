// Checks that the bundle of a tree is within the limits of a node.
import { keyIn } from '#compiler/tree/tree.ts'
import type { PlacedFile } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

export const bundleLimitsKept: TreeRule = ({ tree, zones, records, responses, limits }, report) => {
  const members = tree.of.Pool.reduce((sum, { object }) => sum + object.spec.members.length, 0)
  const anywhere = tree.of.Service[0] ?? tree.of.Pool[0]
  const counts: [what: string, count: number, max: number, at: PlacedFile | undefined][] = [
    ['zones', zones?.zones.length ?? 0, limits.zonesMax, tree.settings ?? anywhere],
    [
      'services',
      tree.of.Service.length,
      limits.servicesMax,
      tree.of.Service.at(limits.servicesMax),
    ],
    ['pools', tree.of.Pool.length, limits.poolsMax, tree.of.Pool.at(limits.poolsMax)],
    ['rollouts', tree.of.Rollout.length, limits.rolloutsMax, tree.of.Rollout.at(-1)],
    [
      'maintenance windows',
      tree.of.MaintenanceWindow.length,
      limits.windowsMax,
      tree.of.MaintenanceWindow.at(-1),
    ],
    ['record sets', records?.rrsets.length ?? 0, limits.rrsetsMax, tree.of.Records.at(-1)],
    ['members', members, limits.membersMax, tree.of.Pool.at(-1)],
    ['redirects', tree.of.Redirect.length, limits.redirectsMax, tree.of.Redirect.at(-1)],
    [
      'response rules',
      responses.rules.length,
      limits.responseRulesMax,
      tree.of.ResponsePolicy.at(-1),
    ],
  ]
  for (const [what, count, max, at] of counts) {
    if (count <= max || at === undefined) continue
    report('limit-exceeded', keyIn(at), { args: [String(count), what, String(max)] })
  }
}
