// Checks that unique things are declared once: names, uids, domains, channels.
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { checkHostName, checkHostPattern } from '#compiler/values/names.ts'
import { writtenUids } from '#compiler/values/written-uids.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import { kindNames, kinds } from '#schemas/kinds.ts'
import type { Kind, KindNamedEverywhere } from '#schemas/kinds.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'

const namePlace = valueAt('metadata', 'name')
const nameOf = ({ object }: Entry): string => object.metadata.name

interface UniqueRow<K extends Kind> {
  readonly code: DiagnosticCode
  readonly place: Place
  readonly keyOf: (entry: Entry<K>) => string | undefined
  /** The tree's own index by key. With it, the entry that looks like a copy is at fault. */
  readonly indexOf?: (tree: Tree) => ReadonlyMap<string, Entry<K>>
}

/** Each key must have one entry across tenants. */
function unique<K extends Kind>(kind: K, { code, place, keyOf, indexOf }: UniqueRow<K>): TreeRule {
  return ({ tree }, report) => {
    const index = indexOf?.(tree)
    if (index?.size === tree.of[kind].length) return
    const known = new Map<string, Entry<K>>()
    for (const entry of tree.of[kind] as readonly Entry<K>[]) {
      const key = keyOf(entry)
      if (key === undefined) continue
      const first = index === undefined ? earlier(known, key, entry) : index.get(key)
      if (first === undefined || first === entry) continue
      const [at, other] = index === undefined ? [entry, first] : copyAndOriginal(first, entry)
      report(code, placeIn(at, place), { args: [key], other: placeIn(other, place) })
    }
  }
}

/** One row per kind: a missing one does not compile. */
const namedEverywhere: { readonly [K in KindNamedEverywhere]: TreeRule } = Object.freeze({
  Pool: unique('Pool', {
    ...{ code: 'pool-name-duplicate', place: namePlace, keyOf: nameOf },
    indexOf: ({ poolNamed }) => poolNamed,
  }),
  Service: unique('Service', {
    ...{ code: 'service-name-duplicate', place: namePlace, keyOf: nameOf },
    indexOf: ({ serviceNamed }) => serviceNamed,
  }),
})

export const uniqueRules: readonly TreeRule[] = Object.freeze([
  ...Object.values(namedEverywhere),
  namesWithinTenant,
  writtenOnce,
  unique('Service', {
    ...{ code: 'domain-duplicate', place: valueAt('spec', 'domain') },
    keyOf: ({ file }) => file.domainKey,
    indexOf: ({ serviceAt }) => serviceAt,
  }),
  unique('Redirect', {
    ...{ code: 'redirect-source-duplicate', place: valueAt('spec', 'sourceFqdn') },
    keyOf: ({ object }) => checkHostPattern(object.spec.sourceFqdn).key,
  }),
  unique('DelegatedDomain', {
    ...{ code: 'delegated-domain-duplicate', place: valueAt('spec', 'domain') },
    keyOf: ({ object }) => checkHostName(object.spec.domain).key,
  }),
  unique('Delivery', {
    ...{ code: 'delivery-duplicate', place: valueAt('kind') },
    keyOf: ({ object }) => object.spec.channel,
  }),
  unique('Tenant', {
    ...{ code: 'tenant-duplicate', place: valueAt('kind') },
    keyOf: ({ tenant }) => tenant,
  }),
])

function namesWithinTenant({ tree }: RuleSubject, report: TreeReport): void {
  for (const kind of kindNames) {
    if (kinds[kind].names !== 'within-tenant') continue
    if (kind === 'Records' && tree.hasUniqueRecordNames) continue
    const known = new Map<string, Entry>()
    for (const entry of tree.of[kind]) {
      // A tenant's name contains no `/`.
      const first = earlier(known, `${entry.tenant}/${nameOf(entry)}`, entry)
      if (first === undefined) continue
      const [copy, original] = copyAndOriginal(first, entry)
      const detail = { args: [nameOf(entry), kind], other: placeIn(original, namePlace) }
      report('object-name-duplicate', placeIn(copy, namePlace), detail)
    }
  }
}

/** A declared uid belongs to one object, member or response rule. */
function writtenOnce({ tree }: RuleSubject, report: TreeReport): void {
  if (tree.hasUniqueUids) return
  const entries = Object.values<readonly Entry[]>(tree.of).flat()
  const firstOf = new Map<string, { readonly entry: Entry; readonly place: Place }>()
  for (const entry of entries) {
    for (const { uid, place } of writtenUids(entry.object)) {
      const first = earlier(firstOf, uid, { entry, place })
      if (first === undefined) continue
      const [copy] = copyAndOriginal(first.entry, entry)
      const [here, there] = [placeIn(entry, place), placeIn(first.entry, first.place)]
      const [at, other] = copy === entry ? [here, there] : [there, here]
      report('uid-duplicate', at, { args: [uid], other })
    }
  }
  for (const entry of entries) {
    // A derived uid may have been copied into another file.
    const first = firstOf.get(entry.uid)
    if (first === undefined || entry.object.metadata.uid !== undefined) continue
    const other = valueIn(entry, 'metadata', 'name')
    report('uid-duplicate', placeIn(first.entry, first.place), { args: [entry.uid], other })
  }
}

/** Suffixes that people and file managers give copies. */
const copySuffix = /(?:^|[-_. (])(?:copy|copie|kopie|backup|bak|old|orig|new|neu|tmp|\d+)\)?$/i

/** @returns the copy and the original; when undecidable, the first is the original */
export function copyAndOriginal(first: Entry, second: Entry): readonly [Entry, Entry] {
  return likeness(second) > likeness(first) ? [first, second] : [second, first]
}

/** How well the file name of an object fits its name: the original's fits best. */
function likeness({ path, object }: Entry): number {
  const stem = path.slice(path.lastIndexOf('/') + 1).replace(/\.ya?ml$/, '')
  if (stem === object.metadata.name) return 2
  return copySuffix.test(stem) ? 0 : 1
}
