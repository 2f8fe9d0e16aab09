// Finds what answers for a name, as a server would: exact match, alias, wildcard. RFC 1034 4.3.2.
import { foldName, formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { isAliasService } from '#compiler/tree/alias-service.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { above, placeOfRrset, zoneOfName } from './record-plan.ts'
import type { RecordPlan } from './record-plan.ts'

/** `elsewhere`: others answer for the name, or it is unknown. `alias`: the place of the alias. */
type Addresses = { readonly found: 'some' | 'none' | 'elsewhere' } | { readonly alias: EntryPlace }

/** Tells whether a query for a name's addresses finds any, and where an alias points. */
export function addressesOf(tree: Tree, plan: RecordPlan, name: string): Addresses {
  const service = tree.serviceAt.get(name)
  if (service !== undefined) return addressesOfService(tree, service)
  if (plan.hosts.has(name)) return { found: 'some' }
  // All records are in zones, so there is no wildcard to look for.
  if (zoneOfName(plan, name) === undefined) return { found: 'elsewhere' }
  const alias = aliasAt(tree, plan, name)
  if (alias !== undefined) return { alias: placeOfRrset(alias, 'type') }
  if (plan.cuts.has(name) || above(plan, plan.cuts, name) !== undefined) {
    return { found: 'elsewhere' }
  }
  const own = plan.at.get(name)
  if (own?.some(isAddress) === true) return { found: 'some' }
  const wildcard = existsIn(tree, plan, name) ? undefined : wildcardFor(tree, plan, name)
  if (wildcard !== undefined) {
    const covering = tree.serviceAt.get(wildcard)
    if (covering !== undefined) return addressesOfService(tree, covering)
    if (plan.at.get(wildcard)?.some(isAddress) === true) return { found: 'some' }
  }
  return { found: isKnown(tree, plan) ? 'none' : 'elsewhere' }
}

function addressesOfService(tree: Tree, service: Entry<'Service'>): Addresses {
  if (!isAliasService(tree, service)) return { found: 'some' }
  return { alias: valueIn(service, 'spec', 'domain') }
}

/** Whether a name is in our zones and answered with NXDOMAIN. False where others answer for it. */
export function isNowhere(tree: Tree, plan: RecordPlan, name: string): boolean {
  if (plan.at.has(name) || hasService(tree, name) || plan.hosts.has(name)) return false
  if (zoneOfName(plan, name) === undefined || !isKnown(tree, plan)) return false
  if (above(plan, plan.cuts, name) !== undefined) return false
  if (above(plan, plan.dnames, name) !== undefined || existsIn(tree, plan, name)) return false
  return wildcardFor(tree, plan, name) === undefined
}

/** Whether everything that could exist at a name was read. */
function isKnown(tree: Tree, plan: RecordPlan): boolean {
  return plan.isWhole && !tree.faulty.services
}

/** The CNAME of a name, that of its wildcard, or the DNAME above it. */
export function aliasAt(tree: Tree, plan: RecordPlan, name: string): PlannedRrset | undefined {
  if (hasService(tree, name) || plan.hosts.has(name)) return undefined
  const own = plan.at.get(name)
  const alias = own?.find(isCname) ?? above(plan, plan.dnames, name)
  if (alias !== undefined || own !== undefined) return alias
  const wildcard = wildcardFor(tree, plan, name)
  return wildcard === undefined ? undefined : plan.at.get(wildcard)?.find(isCname)
}

/** Number of aliases that one answer follows. */
export const aliasesMax = 8

/** The end of a chain of alias records; for a name outside of our zones, the name itself. */
export function endOfAliases(tree: Tree, plan: RecordPlan, name: string): string {
  let here = name
  for (let i = 0; i < aliasesMax && plan.aliases.length > 0; i++) {
    if (zoneOfName(plan, here) === undefined) return here
    const alias = aliasAt(tree, plan, here)
    const next = alias === undefined ? undefined : targetOfAlias(alias, here)
    if (next === undefined) return here
    here = next
  }
  return here
}

/** The zone of ours in which a name is answered; undefined: others answer for it. */
function ownZoneOf(plan: RecordPlan, name: string): string | undefined {
  const isOthers = plan.cuts.has(name) || above(plan, plan.cuts, name) !== undefined
  return isOthers ? undefined : plan.zones[zoneOfName(plan, name) ?? -1]?.name
}

/**
 * The same for a name that nodes ask a resolver for; undefined also where `splitHorizon` of the
 * zone says that the resolver knows other addresses.
 */
export function lookedUpZoneOf(plan: RecordPlan, name: string): string | undefined {
  const zone = ownZoneOf(plan, name)
  return zone !== undefined && plan.zones[zoneOfName(plan, name) ?? -1]?.isSplit === true
    ? undefined
    : zone
}

/** The name outside of our zones that aliases lead to from one of ours; '': there is none. */
export function leadsOutside(tree: Tree, plan: RecordPlan, name: string): string {
  const end = endOfAliases(tree, plan, name)
  return ownZoneOf(plan, end) === undefined ? end : ''
}

/** Undefined: the name would be too long (RFC 6672 section 2.2). */
export function targetOfAlias({ model }: PlannedRrset, name: string): string | undefined {
  const [rdata] = model.rdata
  if (rdata === undefined) return undefined
  const target = formatName(foldName(rdata))
  if (model.type === RrType.CNAME || model.type === aliasCode) return target
  const prefix = name.slice(0, name.length - model.name.length)
  const next = target === '.' ? prefix : `${prefix}${target}`
  return next.length > 1_000 ? undefined : next
}

function hasService(tree: Tree, name: string): boolean {
  return tree.serviceAt.has(name)
}

const isAddress = ({ model: { type } }: PlannedRrset): boolean =>
  type === RrType.A || type === RrType.AAAA || type === aliasCode

const isCname = ({ model: { type } }: PlannedRrset): boolean => type === RrType.CNAME

/** The wildcard for a name that does not exist, whether or not the wildcard exists. */
function wildcardFor(tree: Tree, plan: RecordPlan, name: string): string | undefined {
  if (plan.zoneAt.has(name)) return undefined
  for (const outer of enclosingNames(name)) {
    const wildcard = `*.${outer}`
    if (plan.at.has(wildcard) || hasService(tree, wildcard)) return wildcard
    if (plan.zoneAt.has(outer) || existsIn(tree, plan, outer)) return undefined
  }
  return undefined
}

/** A name exists when records are at it or below it. RFC 4592 section 2.2. */
function existsIn(tree: Tree, plan: RecordPlan, name: string): boolean {
  if (plan.at.has(name) || plan.zoneAt.has(name) || hasService(tree, name)) return true
  return parentsOf(plan, plan.at).has(name) || parentsOf(tree, tree.serviceAt).has(name)
}

const parents = new WeakMap<object, ReadonlySet<string>>()

/**
 * All names above other names, computed on demand.
 *
 * @param owner of `names`, which must not change during its life
 */
function parentsOf(
  owner: object,
  names: Pick<ReadonlyMap<string, unknown>, 'keys'>,
): ReadonlySet<string> {
  let found = parents.get(owner)
  if (found === undefined) {
    const all = new Set<string>()
    for (const name of names.keys()) {
      for (const outer of enclosingNames(name)) {
        if (all.has(outer)) break
        all.add(outer)
      }
    }
    found = all
    parents.set(owner, found)
  }
  return found
}
