// Finds pools that no service uses.
import { suggest } from '#lib/suggest.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Tree } from '#compiler/tree/tree.ts'

export const poolsUsed: TreeRule = {
  name: 'pools-used',
  check({ tree }, report) {
    // A service that could not be read may be the one that uses it.
    if (tree.faulty.services) return
    const used = new Set<string>()
    for (const { object } of tree.of.Service) {
      for (const name of namedPoolsOf(object.spec)) used.add(name)
    }
    const meant = misspelt(tree, used)
    for (const entry of tree.of.Pool) {
      const { name } = entry.object.metadata
      if (used.has(name) || meant.has(name)) continue
      report('pool-unused', placeIn(entry, valueAt('metadata', 'name')), { args: [name] })
    }
  },
}

/** More unknown names than this are no slips of the hand. */
const slipsMax = 20

/** Pools that an unknown name was probably meant for: the name has its own message. */
function misspelt(tree: Tree, used: ReadonlySet<string>): ReadonlySet<string> {
  const unknown: string[] = []
  for (const name of used) if (!tree.poolNamed.has(name)) unknown.push(name)
  if (unknown.length === 0) return new Set()
  const known = tree.of.Pool.map(({ object }) => object.metadata.name)
  const near = unknown.slice(0, slipsMax).map((name) => suggest(name, known))
  return new Set(near.filter((name) => name !== undefined))
}
