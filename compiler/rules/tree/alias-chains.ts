// Finds aliases (CNAME and DNAME) that lead in a circle, or through too many others.
import { RrType } from '#dns/rrtype.ts'
import { placeOfRrset } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { PlannedRrset, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { aliasAt, aliasesMax, targetOfAlias } from '#compiler/lower/record-lookup.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'
import type { TreeRule } from './tree-rule.ts'

/** Below a DNAME stands nothing; this label is nobody's. */
const anyLabel = '\\001.'

export const aliasChains: TreeRule = {
  name: 'alias-chains',
  check({ tree, records: plan }, report) {
    if (plan === undefined) return
    for (const rrset of plan.addressAliases) checkAddressAlias(tree, plan, rrset, report)
    for (const rrset of plan.aliases) {
      const { name, type } = rrset.model
      const start = type === RrType.CNAME ? name : `${anyLabel}${name}`
      const { names, circle } = walk(tree, plan, start)
      const at = placeOfRrset(rrset, 'values', 0)
      const way = names.map((one) => one.replace(anyLabel, '')).join(' → ')
      if (circle.length > 0) {
        // Each leads back to itself: the first in the alphabet tells.
        const isTeller = circle.includes(rrset) && circle.every((one) => name <= one.model.name)
        if (isTeller) report('alias-loop', at, { args: [way] })
      } else if (names.length > aliasesMax + 1) {
        report('alias-chain-long', at, { args: [name, String(aliasesMax), way] })
      }
    }
  },
}

interface Walk {
  /** The start, and where each alias leads. */
  readonly names: readonly string[]
  /** The aliases that lead round and round; empty: there is an end, or no end in sight. */
  readonly circle: readonly PlannedRrset[]
}

function walk(tree: Tree, plan: RecordPlan, start: string): Walk {
  const names = [start]
  const aliases: PlannedRrset[] = []
  for (let here = start; names.length <= aliasesMax + 1;) {
    const alias = aliasAt(tree, plan, here)
    const next = alias === undefined ? undefined : targetOfAlias(alias, here)
    if (alias === undefined || next === undefined) break
    const seen = names.indexOf(next)
    names.push(next)
    aliases.push(alias)
    if (seen !== -1) return { names, circle: aliases.slice(seen) }
    here = next
  }
  return { names, circle: [] }
}

/** An ALIAS is looked up from outside: one that leads back to itself finds nothing, ever. */
function checkAddressAlias(
  tree: Tree,
  plan: RecordPlan,
  rrset: PlannedRrset,
  report: TreeReport,
): void {
  const { name } = rrset.model
  const names = [name]
  let next: PlannedRrset | undefined = rrset
  while (next !== undefined && names.length <= aliasesMax + 1) {
    const here = targetOfAlias(next, names.at(-1)!)
    if (here === undefined) return
    names.push(here)
    if (here === name) {
      const way = names.join(' → ')
      return report('alias-loop', placeOfRrset(rrset, 'values', 0), { args: [way] })
    }
    next =
      plan.at.get(here)?.find(({ model }) => model.type === aliasCode) ?? aliasAt(tree, plan, here)
  }
}
