// A uid that is written down belongs to one object, member or response rule.
import { valueAt } from '../diagnostic.ts'
import type { Place } from '../diagnostic.ts'
import type { TreeRule } from '../tree-rule.ts'
import { placeIn } from '../tree.ts'
import type { Entry, Tree, TreeReport, WrittenUid } from '../tree.ts'

export const uidsUnique: TreeRule = {
  name: 'uids-unique',
  check({ tree }, report) {
    const firstOf = new Map<string, Claim>()
    for (const entries of allEntries(tree)) {
      for (const entry of entries) {
        for (const claim of (entry.derived.uids ??= writtenUids(entry.object))) {
          const first = firstOf.get(claim.uid)
          if (first === undefined) firstOf.set(claim.uid, { entry, place: claim.place })
          else {
            const other = placeIn(first.entry, first.place)
            report('uid-duplicate', placeIn(entry, claim.place), { args: [claim.uid], other })
          }
        }
      }
    }
    if (firstOf.size > 0) checkDerived(tree, firstOf, report)
  },
}

interface Claim {
  readonly entry: Entry
  readonly place: Place
}

const noUids: readonly WrittenUid[] = Object.freeze([])

function writtenUids(object: Entry['object']): readonly WrittenUid[] {
  const written: WrittenUid[] = []
  const { uid } = object.metadata
  if (uid !== undefined) written.push({ uid: uid.toLowerCase(), place: valueAt('metadata', 'uid') })
  const [list, parts] = partsOf(object)
  for (const [i, part] of parts.entries()) {
    if (part.uid === undefined) continue
    written.push({ uid: part.uid.toLowerCase(), place: valueAt('spec', list, i, 'uid') })
  }
  return written.length === 0 ? noUids : written
}

/** What has a uid of its own inside an object. */
function partsOf(object: Entry['object']): [list: string, parts: readonly { uid?: string }[]] {
  if (object.kind === 'Pool') return ['members', object.spec.members]
  return object.kind === 'ResponsePolicy' ? ['rules', object.spec.rules] : ['', []]
}

/** Somebody may have copied a derived uid into another file. */
function checkDerived(tree: Tree, written: ReadonlyMap<string, Claim>, report: TreeReport): void {
  for (const entries of allEntries(tree)) {
    for (const entry of entries) {
      if (entry.object.metadata.uid !== undefined) continue
      const first = written.get(entry.uid)
      if (first === undefined) continue
      const other = placeIn(entry, valueAt('metadata', 'name'))
      report('uid-duplicate', placeIn(first.entry, first.place), { args: [entry.uid], other })
    }
  }
}

function allEntries(tree: Tree): readonly (readonly Entry[])[] {
  const { settings, tenants, pools, services, responsePolicies } = tree
  const { redirects, delegatedDomains, rollouts, windows } = tree
  const first: readonly Entry[] = settings === undefined ? [] : [settings]
  const shared = [first, tenants, pools, services, responsePolicies]
  return [...shared, redirects, delegatedDomains, rollouts, windows]
}
