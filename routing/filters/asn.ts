// asn: members that the rules of `asn.rules` prefer for the client's network operator come first.
import type { Chain } from '#routing/chain/chain.ts'
import type { RoutingEnvironment } from '#routing/choose/environment.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import { preferredEndpoint } from '#routing/chain/prefer.ts'
import { LikenessKind, needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Filter } from '#routing/choose/step.ts'

export const asn: Filter = {
  name: 'asn',
  aliases: [],
  kind: 'narrowing',
  bind(environment) {
    // Without a match the first candidate stays the first: to prefer it is the same.
    const preferring = createAsnPreference(environment, 0)
    return (chain) => {
      preferring(chain)
    }
  },
}

/**
 * @param otherwise what no match counts as: the position that is as good, or -1
 * @returns a step that says whether a candidate was preferred, which is then the first
 */
export function createAsnPreference({ asn: preferences }: RoutingEnvironment, otherwise: 0 | -1) {
  if (preferences === null) return () => false
  const { lists, ranges } = preferences
  const likeness: Likeness = {
    kind: otherwise === 0 ? LikenessKind.AsnFilter : LikenessKind.AsnAlgorithm,
    isAlike: (chain: Chain, list: number): boolean =>
      Math.max(otherwise, preferredEndpoint(chain, lists, list)) === chain.picked,
  }
  return (chain: Chain): boolean => {
    const row = rowOfClient(ranges, chain)
    const list = valueOfRow(ranges, chain, row)
    chain.picked = Math.max(otherwise, preferredEndpoint(chain, lists, list))
    needAlike(chain, ranges, row, likeness)
    if (chain.picked < 0) return false
    chain.bringToFront(chain.picked)
    return true
  }
}
