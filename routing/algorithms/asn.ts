// asn: the member that the first matching rule of `asn.rules` names; without a match round robin.
import { createAsnPreference } from '../filters/asn.ts'
import { takeTurns } from '../filters/round-robin.ts'
import type { Algorithm } from '#routing/choose/step.ts'

export const asn: Algorithm = {
  name: 'asn',
  aliases: [],
  bind(environment) {
    const preferring = createAsnPreference(environment, -1)
    return (chain) => {
      if (!preferring(chain)) takeTurns(chain)
    }
  },
}
