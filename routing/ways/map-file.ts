// map-file: moves the member that the first matching rule of `mapFile.rules` names to the front.
import * as clientRanges from '#bundle/format/client-ranges.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { listOfRow, networkRow } from '#routing/chain/networks.ts'
import { preferredEndpoint } from '#routing/chain/prefer.ts'
import { LikenessKind, needAlikeLists } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Way } from '#routing/choose/way.ts'

// Local constants are faster than imports: see answer/answer.ts.
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
    // Most rules name one endpoint: comparing it with the picked member settles them.
    const isOther = memberEndpoint[members[picked]!] !== networkList[list + 1]
    if (isOther && picked > 0 && networkList[list] === 1) return false
    return Math.max(0, preferredEndpoint(chain, networkList, list)) === picked
  },
}

/** Rules whose endpoint is no candidate are skipped: the rules are for all pools. */
export function preferMapped(chain: Chain): void {
  const row = networkRow(chain, mapTable)
  const preferred = preferredEndpoint(
    chain,
    chain.bundle.networkList,
    listOfRow(chain, mapTable, row),
  )
  // Without a match the first candidate stays first, as if it were preferred.
  chain.picked = Math.max(0, preferred)
  needAlikeLists(chain, mapTable, row, likeness)
  if (chain.picked > 0) chain.bringToFront(chain.picked)
}
