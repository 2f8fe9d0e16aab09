// Finds aliases (CNAME and DNAME) that lead in a circle, or through too many others.
import { formatName, foldName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { placeOfRrset } from '#compiler/plan/record-plan.ts'
import type { RecordPlan } from '#compiler/plan/record-plan.ts'
import type { PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { aliasAt } from '#compiler/plan/record-lookup.ts'
import type { TreeRule } from './tree-rule.ts'

/** As many as one answer follows. */
export const aliasesMax = 8

/** Below a DNAME stands nothing; this label is nobody's. */
const anyLabel = '\\001.'

export const aliasChains: TreeRule = {
  name: 'alias-chains',
  check({ tree, records: plan }, report) {
    if (plan === undefined) return
    for (const rrset of plan.aliases) {
      const { name, type } = rrset.model
      const start = type === RrType.CNAME ? name : `${anyLabel}${name}`
      const { names, isLoop } = walk(tree, plan, start)
      if (!isLoop && names.length <= aliasesMax + 1) continue
      const at = placeOfRrset(rrset, 'values', 0)
      const way = names.map((one) => one.replace(anyLabel, '')).join(' → ')
      if (!isLoop) report('alias-chain-long', at, { args: [name, String(aliasesMax), way] })
      // Of all on the circle, the first in the alphabet tells.
      else if (names.every((one) => start <= one)) report('alias-loop', at, { args: [way] })
    }
  },
}

interface Walk {
  /** The start, and where each alias leads. */
  readonly names: readonly string[]
  /** The last is the start again. */
  readonly isLoop: boolean
}

function walk(tree: Tree, plan: RecordPlan, start: string): Walk {
  const names = [start]
  for (let here = start; names.length <= aliasesMax + 1;) {
    const alias = aliasAt(tree, plan, here)
    const next = alias === undefined ? undefined : targetOf(alias, here)
    if (next === undefined) return { names, isLoop: false }
    names.push(next)
    if (next === start) return { names, isLoop: true }
    // Another circle, which tells of itself.
    if (names.indexOf(next) < names.length - 1) return { names: [], isLoop: false }
    here = next
  }
  return { names, isLoop: false }
}

/** Undefined: the name would be too long, and nobody gets that far (RFC 6672 section 2.2). */
function targetOf({ model }: PlannedRrset, name: string): string | undefined {
  const [rdata] = model.rdata
  if (rdata === undefined) return undefined
  const target = formatName(foldName(rdata))
  if (model.type === RrType.CNAME) return target
  const prefix = name.slice(0, name.length - model.name.length)
  const next = target === '.' ? prefix : `${prefix}${target}`
  return next.length > 1_000 ? undefined : next
}
