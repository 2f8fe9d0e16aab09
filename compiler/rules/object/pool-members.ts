// Finds pools without members that can answer, as a whole or for one address family.
import type { Member } from '#schemas/objects/member.ts'
import { isHostname, targetOf } from '#compiler/values/member-target.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

export const poolMembers: ObjectRule<'Pool'> = {
  name: 'pool-members',
  kind: 'Pool',
  check({ metadata, spec }, report) {
    const args = [metadata.name]
    if (spec.members.length === 0) {
      if (spec.healthCheck === undefined)
        report('pool-empty', valueAt('metadata', 'name'), { args })
      else report('health-check-without-members', keyAt('spec', 'healthCheck'), { args })
    } else if (!spec.members.some(isActive)) {
      report('pool-inactive', keyAt('spec', 'members'), { args })
    } else {
      for (const [family, ofFamily] of byFamily(spec.members)) {
        // A pool without members of a family says nothing about it.
        if (ofFamily.some(isActive)) continue
        report('pool-family-inactive', keyAt('spec', 'members'), { args: [family, ...args] })
      }
    }
    const { minHealthy } = spec
    const enabled = spec.members.filter((member) => member.enabled).length
    const place = valueAt('spec', 'minHealthy')
    if (minHealthy > spec.members.length) {
      const args = [String(minHealthy), membersText(spec.members.length)]
      report('min-healthy-above-members', place, { args })
    } else if (minHealthy > enabled) {
      const args = [String(minHealthy), `${membersText(enabled)} ${enabled === 1 ? 'is' : 'are'}`]
      report('min-healthy-above-enabled', place, { args })
    }
  },
}

function isActive({ enabled }: Member): boolean {
  return enabled
}

/** A host name may have addresses of both. */
function byFamily(members: readonly Member[]): Map<string, Member[]> {
  const families = Map.groupBy(
    members.filter((member) => !isHostname(member)),
    (member) => (targetOf(member).includes(':') ? 'IPv6' : 'IPv4'),
  )
  const hostnames = members.filter(isHostname)
  for (const list of families.values()) list.push(...hostnames)
  return families
}

function membersText(count: number): string {
  return `${count} ${count === 1 ? 'member' : 'members'}`
}
