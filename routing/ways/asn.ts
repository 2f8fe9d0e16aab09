// asn: prefers the member that the first matching rule of `asn.rules` names for the client's
// operator.
import type { Chain } from '#routing/chain/chain.ts'
import type { RoutingEnvironment } from '#routing/choose/environment.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import { preferredEndpoint } from '#routing/chain/prefer.ts'
import { LikenessKind, needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Way } from '#routing/choose/way.ts'
import { takeTurns } from './round-robin.ts'

export const asnFilter: Way = {
  name: 'asn',
  aliases: [],
  usedAs: ['filter'],
  kind: 'narrowing',
  leaves: 'all',
  picksAny: false,
  needs: ['asn-rules'],
  likeness: [LikenessKind.AsnFilter],
  page: {
    does: "puts the member first that the first rule for the client's operator names",
    settings: '`asn.rules`',
    scope: 'networks of the operators',
  },
  bind(environment) {
    // Without a match the first candidate stays first, as if it were preferred.
    const preferring = createAsnPreference(environment, 0)
    return (chain) => {
      preferring(chain)
    }
  },
}

/** As algorithm: without a match the candidates take turns. */
export const asn: Way = {
  name: 'asn',
  aliases: [],
  usedAs: ['algorithm'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: false,
  needs: ['asn-rules'],
  likeness: [LikenessKind.AsnAlgorithm],
  page: {
    does: "takes what the first rule for the client's operator names; without one: in turn",
    settings: '`asn.rules`',
    scope: 'networks of the operators',
  },
  bind(environment) {
    const preferring = createAsnPreference(environment, -1)
    return (chain) => {
      if (!preferring(chain)) takeTurns(chain)
    }
  },
}

/**
 * @param otherwise result without a match: the equivalent position, or -1
 * @returns a step that tells whether a candidate was preferred, which then comes first
 */
function createAsnPreference({ asn: preferences }: RoutingEnvironment, otherwise: 0 | -1) {
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
