// Finds services by weight whose members all have weight 0, and rollouts whose weight is not used.
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import { waysOfService } from '#compiler/tree/service-ways.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'
import { addressFamilies } from '#compiler/values/member-target.ts'
import { dividesByWeight } from '#routing/choose/way.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'

export const weights: TreeRule = (subject, report) => {
  checkWeightless(subject, report)
  checkUnread(subject, report)
}

function checkWeightless({ tree }: RuleSubject, report: TreeReport): void {
  const isSuspect = ({ enabled, weight }: Member): boolean => enabled && weight <= 0
  if (!tree.of.Pool.some(({ object }) => object.spec.members.some(isSuspect))) return
  const seen = new Set<string>()
  for (const { object } of tree.of.Service) {
    const { pool: name } = object.spec
    // Other services of the pool would give the same finding.
    if (name === null || seen.has(name) || !dividesByWeight(waysOfService(object.spec))) continue
    seen.add(name)
    const pool = tree.poolNamed.get(name)
    const family = pool === undefined ? undefined : weightlessFamily(pool)
    if (pool === undefined || family === undefined) continue
    const args = [family, name, object.metadata.name]
    report('pool-weightless', valueIn(pool, 'spec', 'members'), { args })
  }
}

/** @returns a family with enabled members that all have weight 0 */
function weightlessFamily({ object }: Entry<'Pool'>): string | undefined {
  const enabled = object.spec.members.filter((member) => member.enabled)
  return addressFamilies.find(({ has }) => {
    const ofFamily = enabled.filter(has)
    return ofFamily.length > 0 && ofFamily.every(({ weight }) => weight <= 0)
  })?.name
}

function checkUnread({ tree, overlays }: RuleSubject, report: TreeReport): void {
  // A service that could not be read may use the weight.
  if (tree.faulty.services || overlays.rollouts.length === 0) return
  const used = new Set<string>()
  const read = new Set<string>()
  for (const { object } of tree.of.Service) {
    const reads = waysOfService(object.spec).some(({ weightAs }) => weightAs !== undefined)
    for (const name of namedPoolsOf(object.spec)) {
      used.add(name)
      if (reads) read.add(name)
    }
  }
  for (const { entry, poolEntry, model } of overlays.rollouts) {
    if (model === undefined || poolEntry === undefined) continue
    const { name } = poolEntry.object.metadata
    // Another finding reports a pool that no service uses.
    if (read.has(name) || !used.has(name) || entry.object.spec.settled !== undefined) continue
    report('rollout-unread', valueIn(entry, 'spec', 'pool'), { args: [name] })
  }
}
