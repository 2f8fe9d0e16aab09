// Checks that the pools of a service exist and belong to its tenant.
import { suggest } from '#lib/suggest.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'

export const poolReferences: TreeRule = {
  name: 'pool-references',
  check({ tree }, report) {
    const namesOf = new Map<string, string[]>()
    for (const entry of tree.of.Service) {
      for (const reference of referencesOf(entry)) {
        if (isKnown(tree, entry.tenant, reference.name)) continue
        let names = namesOf.get(entry.tenant)
        if (names === undefined) {
          names = tree.of.Pool.filter(({ tenant }) => tenant === entry.tenant).map(poolName)
          namesOf.set(entry.tenant, names)
        }
        reportMissing(tree, entry, reference, names, report)
      }
    }
  },
}

interface Reference {
  readonly field: 'pool' | 'onAllDown'
  readonly name: string
}

function referencesOf({ object: { spec } }: Entry<'Service'>): readonly Reference[] {
  const { pool } = spec
  const fallback = fallbackPoolOf(spec)
  const own: readonly Reference[] = pool === null ? [] : [{ field: 'pool', name: pool }]
  return fallback === undefined ? own : [...own, { field: 'onAllDown', name: fallback }]
}

function isKnown(tree: Tree, tenant: string, name: string): boolean {
  if (tree.poolNamed.get(name)?.tenant === tenant) return true
  // The pool's own file has its own message; one mistake gives one.
  return tree.faulty.poolNames.has(`${tenant}/${name}`) || tree.faulty.anyPool.has(tenant)
}

function reportMissing(
  tree: Tree,
  entry: Entry<'Service'>,
  { field, name }: Reference,
  names: readonly string[],
  report: TreeReport,
): void {
  const at = placeIn(entry, valueAt('spec', field))
  const elsewhere = tree.poolNamed.get(name)
  // A name that two tenants use is reported where it is declared twice.
  if (names.includes(name)) return
  if (elsewhere === undefined) {
    report('pool-unknown', at, { args: [name, entry.tenant], suggestion: suggest(name, names) })
    return
  }
  const args = [name, elsewhere.tenant, entry.tenant]
  const other = placeIn(elsewhere, valueAt('metadata', 'name'))
  report('pool-of-other-tenant', at, { args, other, suggestion: suggest(name, names) })
}

function poolName(entry: Entry<'Pool'>): string {
  return entry.object.metadata.name
}
