// Checks that a declared uid belongs to one object, member or response rule.
import { copyAndOriginal } from '#compiler/tree/copies.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { writtenUids } from '#compiler/values/written-uids.ts'

export const uidsUnique: TreeRule = {
  name: 'uids-unique',
  check({ tree }, report) {
    if (tree.hasUniqueUids) return
    const firstOf = new Map<string, Claim>()
    for (const entries of Object.values<readonly Entry[]>(tree.of)) {
      for (const entry of entries) {
        for (const claim of writtenUids(entry.object)) {
          const first = firstOf.get(claim.uid)
          if (first === undefined) firstOf.set(claim.uid, { entry, place: claim.place })
          else {
            const [copy] = copyAndOriginal(first.entry, entry)
            const here = placeIn(entry, claim.place)
            const there = placeIn(first.entry, first.place)
            const [at, other] = copy === entry ? [here, there] : [there, here]
            report('uid-duplicate', at, { args: [claim.uid], other })
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

/** Somebody may have copied a derived uid into another file. */
function checkDerived(tree: Tree, written: ReadonlyMap<string, Claim>, report: TreeReport): void {
  for (const entries of Object.values<readonly Entry[]>(tree.of)) {
    for (const entry of entries) {
      if (entry.object.metadata.uid !== undefined) continue
      const first = written.get(entry.uid)
      if (first === undefined) continue
      const other = placeIn(entry, valueAt('metadata', 'name'))
      report('uid-duplicate', placeIn(first.entry, first.place), { args: [entry.uid], other })
    }
  }
}
