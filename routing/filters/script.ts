// script:<body>: the candidates as a program of the service's owner wants them (document B).
import type { Filter } from '#routing/choose/step.ts'

export const script: Filter = {
  name: 'script',
  aliases: [],
  kind: 'narrowing',
  bind({ scripts }, body) {
    if (scripts === null) return () => undefined
    const number = scripts.compile(body)
    return (chain) => {
      // A script may look at every bit of the client's address.
      chain.need(chain.client.isIpv6 ? 128 : 32)
      scripts.run(number, chain)
    }
  },
}
