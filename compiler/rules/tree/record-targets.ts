// Checks the targets of records: they exist, and aliases form no loop.
import { isTransferred } from '#compiler/lower/inbound-records.ts'
import {
  addressesOf,
  aliasAt,
  aliasesMax,
  isNowhere,
  leadsOutside,
  lookedUpZoneOf,
  targetOfAlias,
} from '#compiler/lower/record-lookup.ts'
import {
  isNameInbound,
  isNameWritable,
  placeOfRrset,
  undoubled,
} from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { PlannedRrset, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { aliasCode, hostIn, isAddressName } from '#compiler/values/record-sets.ts'
import { foldName, formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import type { TreeRule } from './tree-rule.ts'

/** Checks that targets of MX, NS and SRV records are no aliases and, in our zones, exist. */
export const recordTargets: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.pointers) {
    // A primary server answers them so, too: the zone is none the worse for coming here.
    if (isTransferred(rrset.entry)) continue
    for (const [i, rdata] of rrset.model.rdata.entries()) {
      const target = hostIn(rrset.model.type, rdata)
      // RFC 7505 and RFC 2782: the root means that there is no such server.
      if (target === '.') continue
      const addresses = addressesOf(tree, plan, target)
      if ('found' in addresses && addresses.found !== 'none') continue
      const at = placeOfRrset(rrset, 'values', rrset.from[i]!)
      const args = [target, rrset.typeName]
      const needs = [rrset.typeName, rrset.model.name, target]
      if ('alias' in addresses) {
        if (isAliasInbound(tree, plan, target)) {
          report('inbound-need-missing', at, { args: [...needs, 'is an alias'] })
        } else report('record-target-alias', at, { args, other: addresses.alias })
      } else if (isNameInbound(plan, target)) {
        report('inbound-need-missing', at, { args: [...needs, 'has no addresses'] })
      } else if (isNameWritable(plan, target)) {
        report('written-need-missing', at, { args: needs, suggestion: undoubled(plan, target) })
      } else if (!isAddressName(target, plan.zones[rrset.model.zone]!.name)) {
        const suggestion = undoubled(plan, target)
        report('record-target-missing', at, { args, suggestion })
      }
    }
  }
}

/** Whether a transfer has made a name an alias, so that another one may end it. */
function isAliasInbound(tree: Tree, plan: RecordPlan, name: string): boolean {
  const alias = aliasAt(tree, plan, name)
  return alias !== undefined && isTransferred(alias.entry)
}

/** Notes aliases that point to missing names of our zones. */
export const aliasTargets: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.aliases) {
    const { name, rdata } = rrset.model
    const [first] = rdata
    if (first === undefined || name.startsWith('_')) continue
    const target = formatName(foldName(first))
    // Names below `_acme-challenge` and the like are made by UPDATE and are not in files.
    if (target.startsWith('_')) continue
    if (!isNowhere(tree, plan, target)) continue
    const at = placeOfRrset(rrset, 'values', rrset.from[0]!)
    const suggestion = undoubled(plan, target)
    report('alias-target-missing', at, { args: [name, target], suggestion })
  }
}

/** Octets of the priority before the target. RFC 9460 section 2.2. */
const priorityBytes = 2

/** Notes HTTPS and SVCB records that send clients past a service, or to nobody. RFC 9460. */
export const bindingTargets: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.bindings) {
    const { name, rdata } = rrset.model
    for (const [i, octets] of rdata.entries()) {
      const target = formatName(foldName(octets.subarray(priorityBytes)))
      const service = tree.serviceAt.get(target === '.' ? name : target)
      if (service !== undefined && hasHints(octets)) {
        report('binding-hint-service', placeOfRrset(rrset, 'values', rrset.from[i]!), {
          args: [rrset.typeName, name, target === '.' ? name : target],
          other: valueIn(service, 'spec', 'domain'),
        })
      }
      // Sections 2.5.1 and 2.5.2: the root means that there is no service, or the owner itself.
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

/** Keys of ipv4hint and ipv6hint. RFC 9460 section 14.3.2. */
const hintKeys: readonly number[] = [4, 6]

/** @param rdata that was parsed */
function hasHints(rdata: Uint8Array): boolean {
  let at = priorityBytes
  while (rdata[at] !== 0) at += rdata[at]! + 1
  const view = new DataView(rdata.buffer, rdata.byteOffset, rdata.length)
  for (at++; at < rdata.length; at += 4 + view.getUint16(at + 2)) {
    if (hintKeys.includes(view.getUint16(at))) return true
  }
  return false
}

type Why = 'does not exist' | 'has no addresses'

/** Section 2.4.2: an alias target may hold any records, also of the same type. */
function whyNoAlias(tree: Tree, plan: RecordPlan, target: string): Why | undefined {
  return isNowhere(tree, plan, target) ? 'does not exist' : undefined
}

/** Section 3: clients connect to addresses of the target, also through aliases. */
function whyNoEndpoint(tree: Tree, plan: RecordPlan, target: string): Why | undefined {
  if (isNowhere(tree, plan, target)) return 'does not exist'
  const addresses = addressesOf(tree, plan, target)
  return 'found' in addresses && addresses.found === 'none' ? 'has no addresses' : undefined
}

/** A label that nobody uses: nothing exists below a DNAME. */
const anyLabel = '\\001.'

/** Finds aliases (CNAME and DNAME) in a loop, or with too many steps. */
export const aliasChains: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined) return
  for (const rrset of plan.addressAliases) checkAddressAlias(tree, plan, rrset, report)
  for (const rrset of plan.aliases) {
    const { name, type } = rrset.model
    // Most lead to a name that is no alias.
    if (type === RrType.CNAME && leadsNoFurther(tree, plan, rrset)) continue
    const start = type === RrType.CNAME ? name : `${anyLabel}${name}`
    const { names, aliases, circle } = walk(tree, plan, start)
    if (circle.length === 0 && names.length <= aliasesMax + 1) continue
    if (aliases.some(({ entry }) => isTransferred(entry))) {
      tellInbound(rrset, circle, report)
      continue
    }
    const at = placeOfRrset(rrset, 'values', 0)
    const way = names.map((one) => one.replace(anyLabel, '')).join(' → ')
    if (circle.length > 0) {
      // A loop is reported once, for the alphabetically first of its members.
      const isTeller = circle.includes(rrset) && circle.every((one) => name <= one.model.name)
      if (isTeller) report('alias-loop', at, { args: [way] })
    } else {
      report('alias-chain-long', at, { args: [name, String(aliasesMax), way] })
    }
  }
}

/** @param rrset a CNAME */
function leadsNoFurther(tree: Tree, plan: RecordPlan, rrset: PlannedRrset): boolean {
  const target = targetOfAlias(rrset, rrset.model.name)
  return target === undefined || aliasAt(tree, plan, target) === undefined
}

/** Its primary server answers so, too, and another transfer may end it. */
function tellInbound(
  rrset: PlannedRrset,
  circle: readonly PlannedRrset[],
  report: TreeReport,
): void {
  const { name, rdata } = rrset.model
  const target = formatName(foldName(rdata[0]!))
  const why = circle.length > 0 ? 'leads in a circle' : 'leads to more aliases than are followed'
  const args = [rrset.typeName, name, target, why]
  report('inbound-need-missing', placeOfRrset(rrset, 'values', 0), { args })
}

interface Walk {
  /** The start, and the target of each alias. */
  readonly names: readonly string[]
  readonly aliases: readonly PlannedRrset[]
  /** The aliases of the loop; empty: the chain ends, or is too long. */
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
    if (seen !== -1) return { names, aliases, circle: aliases.slice(seen) }
    here = next
  }
  return { names, aliases, circle: [] }
}

/** An ALIAS is looked up: one that leads back to itself never finds an address. */
function checkAddressAlias(
  tree: Tree,
  plan: RecordPlan,
  rrset: PlannedRrset,
  report: TreeReport,
): void {
  const { name } = rrset.model
  const names = [name]
  let next: PlannedRrset | undefined = rrset
  let isInbound = false
  while (next !== undefined && names.length <= aliasesMax + 1) {
    const here = targetOfAlias(next, names.at(-1)!)
    if (here === undefined) break
    names.push(here)
    isInbound ||= isTransferred(next.entry)
    if (here === name && isInbound) return tellInbound(rrset, [rrset], report)
    if (here === name) {
      const way = names.join(' → ')
      return report('alias-loop', placeOfRrset(rrset, 'values', 0), { args: [way] })
    }
    next =
      plan.at.get(here)?.find(({ model }) => model.type === aliasCode) ?? aliasAt(tree, plan, here)
  }
  if (names.length > 1) tellOwnTarget(tree, plan, rrset, names[1]!, report)
}

/** Nodes ask a resolver for the target, also where they answer for it themselves. */
function tellOwnTarget(
  tree: Tree,
  plan: RecordPlan,
  rrset: PlannedRrset,
  target: string,
  report: TreeReport,
): void {
  if (lookedUpZoneOf(plan, target) === undefined) return
  const { name } = rrset.model
  const at = placeOfRrset(rrset, 'values', 0)
  const suggestion = undoubled(plan, target) || leadsOutside(tree, plan, target)
  if (isNowhere(tree, plan, target)) {
    report('alias-target-missing', at, { args: [name, target], suggestion })
  } else report('alias-target-own', at, { args: [name, target, name], suggestion })
}
