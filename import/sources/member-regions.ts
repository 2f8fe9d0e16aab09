// Reduces the regions of each member of an import to one, where the source had several for an
// address.
import type { BalancedMember } from './zone-builder.ts'

/** The region for clients that no other region matches. */
export const everywhere = 'continent:*'

/**
 * A member has one region. A member that is also for everybody needs no other region, unless
 * another member ranks between the two.
 *
 * @param say reports, as a clause, that an address cannot have a second region
 */
export function oneRegionEach(
  members: readonly BalancedMember[],
  say: (why: string) => void,
): readonly BalancedMember[] {
  const needless = new Set(
    members.filter((one) => {
      const isForAll = members.some(
        ({ target, region }) => target === one.target && region === everywhere,
      )
      return isForAll && one.region !== everywhere && !members.some((other) => isWider(other, one))
    }),
  )
  const found = new Map<string, BalancedMember>()
  for (const one of members) {
    if (needless.has(one)) continue
    const known = found.get(one.target)
    if (known === undefined) found.set(one.target, one)
    else if (known.region !== one.region) {
      const places = `${one.target} is for ${known.region} and for ${one.region}`
      say(`${places}; a member has one region, and the second is left out`)
    }
  }
  return [...found.values()]
}

/** Whether another address would be chosen for a region before members for everybody. */
function isWider(other: BalancedMember, { target, region = '' }: BalancedMember): boolean {
  if (other.target === target || other.region === undefined || region.startsWith('continent:')) {
    return false
  }
  const isContinent = other.region.startsWith('continent:') && other.region !== everywhere
  return isContinent || (region.includes('-') && region.startsWith(`${other.region}-`))
}
