// rum: picks the candidate that browsers in the client's network reach fastest.
import { RumResult, rumNetworkBits } from '#routing/rum/table.ts'
import type { Way } from '#routing/choose/way.ts'
import { drawByRtt } from './latency.ts'

/** Falls back on `latency` when no measurement covers a candidate. */
export const rum: Way = {
  name: 'rum',
  aliases: ['rum-latency'],
  usedAs: ['filter'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: false,
  feature: 'rum-routing',
  needs: ['rum-urls'],
  likeness: [],
  page: {
    does:
      "takes the member that [browsers](operations/real-user-measurement.md) of the client's " +
      'network reach fastest; without measurements as `latency`',
    settings: "members' `rumUrl`",
    scope: 'the measured network',
  },
  bind({ rum: table }) {
    if (table === null) return drawByRtt
    return (chain) => {
      const fastest = table.fastest(chain)
      if (fastest !== RumResult.Nowhere) {
        chain.need(chain.client.isIpv6 ? rumNetworkBits.v6 : rumNetworkBits.v4)
      }
      if (fastest < 0) drawByRtt(chain)
      else chain.bringToFront(fastest)
    }
  },
}
