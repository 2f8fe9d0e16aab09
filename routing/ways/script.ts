// script:<body>: lets a script of the service's owner choose and order candidates.
import type { Way } from '#routing/choose/way.ts'

export const script: Way = {
  name: 'script',
  aliases: [],
  usedAs: ['filter'],
  kind: 'narrowing',
  leaves: 'all',
  picksAny: false,
  weightAs: 'input',
  argument: 'BODY',
  feature: 'filter-scripts',
  needs: ['small-pool'],
  likeness: [],
  page: {
    does: 'does what a [program](operations/scripts.md) says',
    settings: 'in the chain itself',
    scope: 'all of the address',
  },
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
