// Defines what fails at once: one member, or all of a site, a region or a provider.
import type { Member } from '#schemas/objects/member.ts'
import { targetOf } from '#compiler/values/member-target.ts'

export interface FailureUnit {
  readonly name: 'member' | 'site' | 'region' | 'provider'
  /** Members with equal keys fail together; '': unknown. */
  readonly keyOf: (member: Member) => string
}

/** From the smallest: effects of a smaller unit are effects of the larger ones, too. */
export const failureUnits: readonly FailureUnit[] = Object.freeze([
  { name: 'member', keyOf: endpointOf },
  { name: 'site', keyOf: ({ site }) => site },
  // The schema's default means that no region is given.
  { name: 'region', keyOf: ({ region }) => (region === 'unknown' ? '' : region) },
  { name: 'provider', keyOf: ({ provider }) => provider },
])

/** Like `targetOf` without parsing addresses: those of IPv4 have one spelling here. */
export function endpointOf(member: Member): string {
  const { ipAddress } = member
  return ipAddress === '' || ipAddress.includes(':') ? targetOf(member) : ipAddress
}

/** `the site "fra1"` */
export function unitLabel({ name }: FailureUnit, key: string): string {
  return name === 'member' ? `the member ${key}` : `the ${name} "${key}"`
}
