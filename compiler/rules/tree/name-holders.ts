// Checks that each name belongs to the tenant that uses it.
import {
  heldName,
  holdingAbove,
  holdingAt,
  holdingOf,
  mayOverlap,
  zoneOfName,
} from '#compiler/holders/name-holder.ts'
import type { Holding } from '#compiler/holders/name-holder.ts'
import { placeOfClaim, treeNames } from '#compiler/holders/tree-names.ts'
import type { TreeClaim, TreeNames } from '#compiler/holders/tree-names.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { EntryPlace, TreeReport } from '#compiler/tree/tree.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'

type Found = Holding<TreeClaim>

export const nameHolders: TreeRule = ({ tree, zones, records, redirects }, report) => {
  if (zones === undefined || records === undefined || isOfOne(tree)) return
  const names = treeNames({ tree, zones, records, redirects })
  const above = new EnclosingHoldings(names)
  const declared = new EnclosingHoldings(withoutTransfers(names))
  /** What came in later takes no name away: that would be a transfer which a tenant can refuse. */
  const judge = (claim: ClaimedName, find: (among: EnclosingHoldings) => Found): void => {
    const found = find(above)
    const isOfTransfer = found.is === 'others' && found.by === 'claim' && isUnder(found.claim)
    if (!isOfTransfer) return tell(claim, found, names, report)
    const without = find(declared)
    if (without.is === 'others' || without.is === 'unowned') {
      return tell(claim, without, names, report)
    }
    const args = [claim.name, found.claim.name]
    report('name-of-transfer', claim.at(), { args, other: placeOfClaim(found.claim) })
  }
  for (const entry of tree.of.Service) {
    const name = entry.file.domainKey
    if (name === undefined || !names.isAlone(entry)) continue
    const { tenant } = entry
    const at = (): EntryPlace => valueIn(entry, 'spec', 'domain')
    judge({ tenant, name, at }, (among) => among.of(tenant, name))
  }
  for (const claim of names.claims()) {
    const held = heldName(claim.name)
    const { tenant } = claim
    judge({ ...claim, at: () => placeOfClaim(claim) }, (among) => {
      const seen = {
        ...{ names: among.names, claimant: { tenant, isJudged: true } },
        zone: zoneOfName(names, held),
      }
      const found = holdingAt(seen, held, true) ?? among.of(tenant, held)
      // Other rules report duplicates.
      const isSame = found.is === 'others' && found.by === 'claim' && isTwin(claim, found.claim)
      return isSame ? own : found
    })
  }
  for (const [name, entry] of names.domains) {
    if (mayOverlap(entry.tenant, entry.object.metadata)) continue
    const { tenant } = entry
    const at = (): EntryPlace => valueIn(entry, 'spec', 'domain')
    judge({ tenant, name, at }, (among) => {
      const found = holdingOf(among.names, { tenant, isDomain: true, isJudged: true }, name)
      // Nested domains are `delegated-domain-overlap`: the closest of them decides.
      return found.is === 'others' && found.by === 'domain' ? own : found
    })
  }
}

const own: Found = { is: 'own', by: 'nothing' }

const withoutTransfers = (names: TreeNames): TreeNames => ({
  ...names,
  claimsAt: (name) => names.claimsAt(name).filter((claim) => !isUnder(claim)),
})

const isUnder = ({ layer }: TreeClaim): boolean => layer === 'under'

const isTwin = (a: TreeClaim, b: TreeClaim): boolean =>
  a.kind === b.kind && a.name === b.name && a.type === b.type

/** True for nearly all configurations: there is only one holder, so nothing needs a check. */
function isOfOne({ settings, folders }: RuleSubject['tree']): boolean {
  const spec = settings?.object.spec
  const isGiven = spec?.zones.some(({ tenants }) => tenants !== undefined) ?? false
  return folders.size < 2 && spec?.names !== 'owned' && !isGiven
}

/** Finds the holding above a name once for all its siblings. */
class EnclosingHoldings {
  readonly names: TreeNames
  readonly #known = new Map<string, Map<string, Found>>()

  constructor(names: TreeNames) {
    this.names = names
  }

  of(tenant: string, name: string): Found {
    let known = this.#known.get(tenant)
    if (known === undefined) this.#known.set(tenant, (known = new Map<string, Found>()))
    // A name with an escaped dot has its own key.
    const key = name.includes('\\') ? name : name.slice(name.indexOf('.') + 1)
    let found = known.get(key)
    if (found === undefined) {
      const [names, claimant] = [this.names, { tenant, isJudged: true }]
      found = holdingAbove({ names, claimant, zone: zoneOfName(names, name) }, name)
      known.set(key, found)
    }
    return found
  }
}

interface ClaimedName {
  readonly tenant: string
  readonly name: string
  readonly at: () => EntryPlace
}

function tell(
  { tenant, name, at }: ClaimedName,
  found: Found,
  names: TreeNames,
  report: TreeReport,
): void {
  if (found.is === 'unowned') return report('name-not-owned', at(), { args: [name, tenant] })
  if (found.is !== 'others') return
  if (found.by === 'zone') {
    return report('name-of-other', at(), { args: [name, `the zone ${found.at}`] })
  }
  if (found.by === 'claim') {
    const args = [name, `what is at ${found.claim.name}`]
    return report('name-of-other', at(), { args, other: placeOfClaim(found.claim) })
  }
  const entry = names.domains.get(found.at)!
  const other = valueIn(entry, 'spec', 'domain')
  report('name-of-other', at(), { args: [name, `the delegated domain ${found.at}`], other })
}
