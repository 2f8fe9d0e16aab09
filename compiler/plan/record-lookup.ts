// Finds what answers for a name, as a server would: exact, an alias, a wildcard. RFC 1034 4.3.2.
import { RrType } from '#dns/rrtype.ts'
import { enclosingNames } from '#compiler/values/names.ts'
import type { PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { above, zoneOfName } from './record-plan.ts'
import type { RecordPlan } from './record-plan.ts'

/** `elsewhere`: others answer for the name, or it cannot be told. */
export type Addresses =
  { readonly found: 'some' | 'none' | 'elsewhere' } | { readonly alias: PlannedRrset }

/** Who answers when somebody asks for the addresses of a name. */
export function addressesOf(tree: Tree, plan: RecordPlan, name: string): Addresses {
  if (hasService(tree, name) || plan.hosts.has(name)) return { found: 'some' }
  const alias = aliasAt(tree, plan, name)
  if (alias !== undefined) return { alias }
  if (zoneOfName(plan, name) === undefined) return { found: 'elsewhere' }
  if (plan.cuts.has(name) || above(plan, plan.cuts, name) !== undefined) {
    return { found: 'elsewhere' }
  }
  const own = plan.at.get(name)
  if (own?.some(isAddress) === true) return { found: 'some' }
  const wildcard = existsIn(tree, plan, name) ? undefined : wildcardFor(tree, plan, name)
  const isCovered =
    wildcard !== undefined &&
    (hasService(tree, wildcard) || plan.at.get(wildcard)?.some(isAddress) === true)
  if (isCovered) return { found: 'some' }
  const isKnown = plan.isWhole && !tree.faulty.services
  return { found: isKnown ? 'none' : 'elsewhere' }
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

function hasService(tree: Tree, name: string): boolean {
  return tree.serviceAt.has(name)
}

const isAddress = ({ model: { type } }: PlannedRrset): boolean =>
  type === RrType.A || type === RrType.AAAA

const isCname = ({ model: { type } }: PlannedRrset): boolean => type === RrType.CNAME

/** The wildcard that answers for a name that does not exist; it may not exist itself. */
function wildcardFor(tree: Tree, plan: RecordPlan, name: string): string | undefined {
  if (plan.zoneAt.has(name)) return undefined
  for (const outer of enclosingNames(name)) {
    const wildcard = `*.${outer}`
    if (plan.at.has(wildcard) || hasService(tree, wildcard)) return wildcard
    if (plan.zoneAt.has(outer) || existsIn(tree, plan, outer)) return undefined
  }
  return undefined
}

/** A name exists when something stands at it or below it. RFC 4592 section 2.2. */
function existsIn(tree: Tree, plan: RecordPlan, name: string): boolean {
  if (plan.at.has(name) || plan.zoneAt.has(name) || hasService(tree, name)) return true
  return parentsOf(plan, plan.at).has(name) || parentsOf(tree, tree.serviceAt).has(name)
}

const parents = new WeakMap<object, ReadonlySet<string>>()

/**
 * Names above others; most trees never ask.
 *
 * @param owner of `names`, which stay as they are for as long as it lives
 */
function parentsOf(owner: object, names: ReadonlyMap<string, unknown>): ReadonlySet<string> {
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
