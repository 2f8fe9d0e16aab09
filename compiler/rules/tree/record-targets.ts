// Checks where records lead: names that exist, and no circles.
import {
  addressesOf,
  aliasAt,
  aliasesMax,
  isNowhere,
  targetOfAlias,
} from '#compiler/lower/record-lookup.ts'
import { placeOfRrset, undoubled } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { PlannedRrset, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { aliasCode, hostIn, isAddressName } from '#compiler/values/record-sets.ts'
import { foldName, formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import type { TreeRule } from './tree-rule.ts'

/**
 * Checks that the targets of MX, NS and SRV records are no aliases and, if they are ours, exist.
 */
export const recordTargets: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.pointers) {
    for (const [i, rdata] of rrset.model.rdata.entries()) {
      const target = hostIn(rrset.model.type, rdata)
      // RFC 7505 and RFC 2782: the root says that there is no such server.
      if (target === '.') continue
      const addresses = addressesOf(tree, plan, target)
      if ('found' in addresses && addresses.found !== 'none') continue
      const at = placeOfRrset(rrset, 'values', rrset.from[i]!)
      const args = [target, rrset.typeName]
      if ('alias' in addresses) {
        report('record-target-alias', at, { args, other: addresses.alias })
      } else if (!isAddressName(target, plan.zones[rrset.model.zone]!.name)) {
        const suggestion = undoubled(plan, target)
        report('record-target-missing', at, { args, suggestion })
      }
    }
  }
}

/** Points out aliases that lead to names of our zones which do not exist. */
export const aliasTargets: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.aliases) {
    const { name, rdata } = rrset.model
    const [first] = rdata
    if (first === undefined || name.startsWith('_')) continue
    const target = formatName(foldName(first))
    // Names below `_acme-challenge` and the like come and go by UPDATE, and are not in files.
    if (target.startsWith('_')) continue
    if (!isNowhere(tree, plan, target)) continue
    const at = placeOfRrset(rrset, 'values', rrset.from[0]!)
    const suggestion = undoubled(plan, target)
    report('alias-target-missing', at, { args: [name, target], suggestion })
  }
}

/** Octets of the priority, before the target. RFC 9460 section 2.2. */
const priorityBytes = 2

/**
 * Points out targets of HTTPS and SVCB records in our zones where nobody finds addresses. RFC 9460.
 */
export const bindingTargets: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.bindings) {
    const { name, rdata } = rrset.model
    for (const [i, octets] of rdata.entries()) {
      const target = formatName(foldName(octets.subarray(priorityBytes)))
      // Sections 2.5.1 and 2.5.2: the root says that there is no service, or means the owner.
      if (target === '.') continue
      const isAlias = octets[0] === 0 && octets[1] === 0
      const why = isAlias ? whyNoAlias(tree, plan, target) : whyNoEndpoint(tree, plan, target)
      if (why === undefined) continue
      const at = placeOfRrset(rrset, 'values', rrset.from[i]!)
      const suggestion = undoubled(plan, target)
      report('binding-target-missing', at, {
        args: [rrset.typeName, name, target, why],
        suggestion,
      })
    }
  }
}

type Why = 'does not exist' | 'has no addresses'

/** Section 2.4.2: what stands at the target is looked for, be it records of the same type. */
function whyNoAlias(tree: Tree, plan: RecordPlan, target: string): Why | undefined {
  return isNowhere(tree, plan, target) ? 'does not exist' : undefined
}

/** Section 3: clients connect to its addresses, through aliases, too. */
function whyNoEndpoint(tree: Tree, plan: RecordPlan, target: string): Why | undefined {
  if (isNowhere(tree, plan, target)) return 'does not exist'
  const addresses = addressesOf(tree, plan, target)
  return 'found' in addresses && addresses.found === 'none' ? 'has no addresses' : undefined
}

/** Below a DNAME stands nothing; this label is nobody's. */
const anyLabel = '\\001.'

/** Finds aliases (CNAME and DNAME) that lead in a circle, or through too many others. */
export const aliasChains: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.addressAliases) checkAddressAlias(tree, plan, rrset, report)
  for (const rrset of plan.aliases) {
    const { name, type } = rrset.model
    const start = type === RrType.CNAME ? name : `${anyLabel}${name}`
    const { names, circle } = walk(tree, plan, start)
    if (circle.length === 0 && names.length <= aliasesMax + 1) continue
    const at = placeOfRrset(rrset, 'values', 0)
    const way = names.map((one) => one.replace(anyLabel, '')).join(' → ')
    if (circle.length > 0) {
      // Each leads back to itself: the first in the alphabet tells.
      const isTeller = circle.includes(rrset) && circle.every((one) => name <= one.model.name)
      if (isTeller) report('alias-loop', at, { args: [way] })
    } else {
      report('alias-chain-long', at, { args: [name, String(aliasesMax), way] })
    }
  }
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
