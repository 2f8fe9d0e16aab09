// rum: the candidate that browsers of the client's network reach fastest (document B).
import { RumResult, rumNetworkBits } from '#routing/rum/table.ts'
import type { Filter } from '#routing/choose/step.ts'
import { drawByRtt } from './latency.ts'

/** Without a measurement that covers a candidate, what `latency` does. */
export const rum: Filter = {
  name: 'rum',
  aliases: ['rum-latency'],
  kind: 'selecting',
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
