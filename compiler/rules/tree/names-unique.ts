// Checks that pool and service names are unique across tenants, and other names within theirs.
import { kindNames, kinds } from '#schemas/kinds.ts'
import type { KindNamedEverywhere } from '#schemas/kinds.ts'
import { copyAndOriginal } from '#compiler/tree/copies.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'

export const namesUnique: TreeRule = {
  name: 'names-unique',
  check({ tree }, report) {
    for (const { entries, firstOf, code } of everywhere) {
      checkOne(entries(tree), firstOf(tree), code, report)
    }
    for (const kind of kindNames) {
      if (kind === 'Records' && tree.hasUniqueRecordNames) continue
      if (kinds[kind].names === 'within-tenant') checkWithinOwner(tree.of[kind], report)
    }
  },
}

interface EverywhereRow {
  readonly entries: (tree: Tree) => readonly Entry[]
  /** The tree has it for references. */
  readonly firstOf: (tree: Tree) => ReadonlyMap<string, Entry>
  readonly code: DiagnosticCode
}

/** A row of each kind: one that is forgotten does not compile. */
const everywhereTable: Readonly<Record<KindNamedEverywhere, EverywhereRow>> = {
  Pool: {
    entries: ({ of }) => of.Pool,
    firstOf: ({ poolNamed }) => poolNamed,
    code: 'pool-name-duplicate',
  },
  Service: {
    entries: ({ of }) => of.Service,
    firstOf: ({ serviceNamed }) => serviceNamed,
    code: 'service-name-duplicate',
  },
}
const everywhere = Object.freeze(Object.values(everywhereTable))

function checkOne(
  entries: readonly Entry[],
  firstOf: ReadonlyMap<string, Entry>,
  code: DiagnosticCode,
  report: TreeReport,
): void {
  if (firstOf.size === entries.length) return
  const place = valueAt('metadata', 'name')
  for (const entry of entries) {
    const { name } = entry.object.metadata
    const first = firstOf.get(name)!
    if (first === entry) continue
    const [copy, original] = copyAndOriginal(first, entry)
    report(code, placeIn(copy, place), { args: [name], other: placeIn(original, place) })
  }
}

function checkWithinOwner(entries: readonly Entry[], report: TreeReport): void {
  const place = valueAt('metadata', 'name')
  const firstOf = new Map<string, Entry>()
  for (const entry of entries) {
    const { kind, metadata } = entry.object
    // A tenant's name has no `/`.
    const key = `${entry.tenant}/${metadata.name}`
    const first = firstOf.get(key)
    if (first === undefined) firstOf.set(key, entry)
    else {
      const [copy, original] = copyAndOriginal(first, entry)
      const detail = { args: [metadata.name, kind], other: placeIn(original, place) }
      report('object-name-duplicate', placeIn(copy, place), detail)
    }
  }
}
