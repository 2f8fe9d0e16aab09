// A uid that is written down belongs to one object, member or response rule.
import { valueAt } from '../diagnostic.ts'
import type { Place } from '../diagnostic.ts'
import type { TreeRule } from '../tree-rule.ts'
import { placeIn } from '../tree.ts'
import type { Entry, Tree, TreeReport } from '../tree.ts'

export const uidsUnique: TreeRule = {
  name: 'uids-unique',
  check({ tree }, report) {
    const firstOf = new Map<string, [entry: Entry, place: Place]>()
    for (const entry of entriesOf(tree)) {
      const { uid } = entry.object.metadata
      if (uid !== undefined) claim(uid, entry, valueAt('metadata', 'uid'))
      const [list, parts] = partsOf(entry.object)
      for (const [i, part] of parts.entries()) {
        if (part.uid !== undefined) claim(part.uid, entry, valueAt('spec', list, i, 'uid'))
      }
    }
    if (firstOf.size > 0) checkDerived(tree, firstOf, report)

    function claim(uid: string, entry: Entry, place: Place): void {
      const key = uid.toLowerCase()
      const first = firstOf.get(key)
      if (first === undefined) firstOf.set(key, [entry, place])
      else report('uid-duplicate', placeIn(entry, place), { args: [key], other: placeIn(...first) })
    }
  },
}

/** What has a uid of its own inside an object. */
function partsOf(object: Entry['object']): [list: string, parts: readonly { uid?: string }[]] {
  if (object.kind === 'Pool') return ['members', object.spec.members]
  return object.kind === 'ResponsePolicy' ? ['rules', object.spec.rules] : ['', []]
}

/** Somebody may have copied a derived uid into another file. */
function checkDerived(
  tree: Tree,
  written: ReadonlyMap<string, [entry: Entry, place: Place]>,
  report: TreeReport,
): void {
  for (const entry of entriesOf(tree)) {
    const first = written.get(entry.uid)
    if (entry.object.metadata.uid !== undefined || first === undefined) continue
    const other = placeIn(entry, valueAt('metadata', 'name'))
    report('uid-duplicate', placeIn(...first), { args: [entry.uid], other })
  }
}

function* entriesOf(tree: Tree): Generator<Entry> {
  if (tree.settings !== undefined) yield tree.settings
  yield* tree.tenants as readonly Entry[]
  yield* tree.pools as readonly Entry[]
  yield* tree.services as readonly Entry[]
  yield* tree.responsePolicies as readonly Entry[]
  yield* tree.redirects as readonly Entry[]
  yield* tree.delegatedDomains as readonly Entry[]
  yield* tree.rollouts as readonly Entry[]
  yield* tree.windows as readonly Entry[]
}
