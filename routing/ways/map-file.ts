// map-file: the member that the first matching rule of `mapFile.rules` names comes first.
import * as clientRanges from '#bundle/format/client-ranges.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { listOfRow, networkRow } from '#routing/chain/networks.ts'
import { preferredEndpoint } from '#routing/chain/prefer.ts'
import { LikenessKind, needAlikeLists } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Way } from '#routing/choose/way.ts'

// A constant of this file, for the reason that answer/answer.ts gives.
const { mapTable } = clientRanges

export const mapFile: Way = {
  name: 'map-file',
  aliases: ['mapfile'],
  usedAs: ['algorithm', 'filter'],
  kind: 'narrowing',
  leaves: 'all',
  picksAny: false,
  needs: ['map-rules'],
  likeness: [LikenessKind.MapFile],
  page: {
    does: 'puts the member first that the first matching rule names whose member is a candidate',
    settings: '`mapFile.rules`',
    scope: 'what the rules tell apart',
  },
  bind: () => preferMapped,
}

const likeness: Likeness = {
  kind: LikenessKind.MapFile,
  isAlike: (chain: Chain, list: number): boolean => {
    const { bundle, members, picked } = chain
    const { networkList, memberEndpoint } = bundle
    // The usual rule names one endpoint: a look at the member that was picked says that it differs.
    const isOther = memberEndpoint[members[picked]!] !== networkList[list + 1]
    if (isOther && picked > 0 && networkList[list] === 1) return false
    return Math.max(0, preferredEndpoint(chain, networkList, list)) === picked
  },
}

/** A rule whose endpoint is no candidate is passed over: the rules are those of all pools. */
export function preferMapped(chain: Chain): void {
  const row = networkRow(chain, mapTable)
  const preferred = preferredEndpoint(
    chain,
    chain.bundle.networkList,
    listOfRow(chain, mapTable, row),
  )
  // Without a match the first candidate stays the first: to prefer it is the same.
  chain.picked = Math.max(0, preferred)
  needAlikeLists(chain, mapTable, row, likeness)
  if (chain.picked > 0) chain.bringToFront(chain.picked)
}
