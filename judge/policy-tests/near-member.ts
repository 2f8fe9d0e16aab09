// Suggests a member when a policy test names one that does not exist, within bounded time.
import type { Bundle } from '#bundle/format/bundle.ts'
import { addressOfMember, textOf } from '#bundle/format/bundle.ts'
import { suggest } from '#lib/suggest.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { memberNames } from '#routing/choose/explain.ts'
import { policyTestLimits } from './limits.ts'

/** Suggestions of one run: only the first few, each among a limited number of names. */
export class Suggestions {
  #left: number = policyTestLimits.suggestionsMax

  /** @param names called only while suggestions are left */
  nearest(word: string, names: () => Iterable<string>): string | undefined {
    if (this.#left === 0) return undefined
    this.#left--
    return suggest(word, firstOf(names(), policyTestLimits.suggestedAmongMax))
  }
}

function* firstOf(names: Iterable<string>, most: number): Generator<string> {
  let count = 0
  for (const name of names) {
    if (count++ === most) return
    yield name
  }
}

export function tenantOfMember(bundle: Bundle, member: number): string {
  return textOf(bundle, bundle.poolTenant[bundle.memberPool[member]!]!)
}

/** The names `POOL/*`, with and without the tenant. */
export function namesOfAll(bundle: Bundle, pool: number): readonly [string, string] {
  const all = `${textOf(bundle, bundle.poolName[pool]!)}/*`
  return [all, `${textOf(bundle, bundle.poolTenant[pool]!)}/${all}`]
}

/** @param members of one pool; their names are only suggested to their tenant; '': to every test */
export function* namesFor(
  bundle: Bundle,
  tenant: string,
  members: readonly number[],
): Generator<string> {
  const [first] = members
  if (first === undefined) return
  if (tenant !== '' && tenantOfMember(bundle, first) !== tenant) return
  yield* namesOfAll(bundle, bundle.memberPool[first]!)
  for (const member of members) yield* memberNames(bundle, member)
}

/**
 * Tenants of the members with `wanted` addresses; its size is that of `wanted`, not of the bundle.
 */
export function ownersOf(
  bundle: Bundle,
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>()
  for (let member = 0; member < bundle.counts.members; member++) {
    const address = addressOfMember(bundle, member)
    if (!wanted.has(address)) continue
    getOrInsert(owners, address, () => new Set()).add(tenantOfMember(bundle, member))
  }
  return owners
}
