// Checks the members of a pool: what they point to, that each is listed once, that some can answer.
import { discoveredLimits } from '#bundle/discovered/from.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import {
  addressFamilies,
  hostnameKey,
  isDiscoveredMember,
  isHostname,
  targetOf,
} from '#compiler/values/member-target.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { Report } from '#diagnostics/finding.ts'
import { parseAddress } from '#dns/address.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { PoolSpec } from '#schemas/objects/pool.ts'
import type { ObjectRule } from './object-rule.ts'

/** Finds pools without members that can answer, as a whole or for one address family. */
export const poolMembers: ObjectRule<'Pool'> = ({ metadata, spec }, report) => {
  const args = [metadata.name]
  if (spec.members.length === 0) {
    if (spec.healthCheck === undefined) report('pool-empty', valueAt('metadata', 'name'), { args })
    else report('health-check-without-members', keyAt('spec', 'healthCheck'), { args })
  } else if (!spec.members.some(isActive)) {
    report('pool-inactive', keyAt('spec', 'members'), { args })
  } else {
    for (const { name, has } of addressFamilies) {
      const ofFamily = spec.members.filter(has)
      // A family without any member is not reported.
      if (ofFamily.every(isHostname) || ofFamily.some(isActive)) continue
      report('pool-family-inactive', keyAt('spec', 'members'), { args: [name, ...args] })
    }
  }
  const { minHealthy } = spec
  // A source may find many members.
  const isOpen = spec.members.some((member) => member.enabled && isDiscoveredMember(member))
  if (isOpen) return
  const enabled = spec.members.filter((member) => member.enabled).length
  const place = valueAt('spec', 'minHealthy')
  if (minHealthy > spec.members.length) {
    const args = [String(minHealthy), membersText(spec.members.length)]
    report('min-healthy-above-members', place, { args })
  } else if (minHealthy > enabled) {
    const args = [String(minHealthy), `${membersText(enabled)} ${enabled === 1 ? 'is' : 'are'}`]
    report('min-healthy-above-enabled', place, { args })
  }
}

const isActive = ({ enabled }: Member): boolean => enabled

function membersText(count: number): string {
  return `${count} ${count === 1 ? 'member' : 'members'}`
}

/** Checks the address of a member: reachable for clients, and listed once. */
export const memberAddress: ObjectRule<'Pool'> = ({ spec }, report) => {
  const endpoints = new Map<string, Place>()
  const addresses = new Map<string, Place>()
  for (const [i, { ipAddress, port }] of spec.members.entries()) {
    if (ipAddress === '') continue
    const place = valueAt('spec', 'members', i, 'ipAddress')
    const { canonical, fault } = checkAddress(ipAddress)
    reportFault(fault, place, report)
    if (canonical === undefined) continue
    const same = earlier(endpoints, `${canonical} ${port}`, place)
    const other = earlier(addresses, canonical, place)
    if (same !== undefined) {
      report('member-duplicate', place, { args: [canonical, String(port)], other: same })
    } else if (other !== undefined) {
      report('member-address-duplicate', place, { args: [canonical], other })
    }
  }
}

/** Checks targets of members: an address or a host name, and no more than a pool can answer. */
export const memberHostname: ObjectRule<'Pool'> = ({ metadata, spec }, report) => {
  const known = new Map<string, Place>()
  for (const [i, member] of spec.members.entries()) {
    const { ipAddress, hostname, from, port, rumUrl } = member
    if (from !== '') {
      checkSource(spec, i, known, report)
      continue
    }
    const place = valueAt('spec', 'members', i, 'hostname')
    if (hostname === '') {
      if (ipAddress === '') report('member-target-missing', valueAt('spec', 'members', i))
      else if (spec.answer === 'cname') {
        report('cname-member-address', valueAt('spec', 'members', i, 'ipAddress'))
      }
      continue
    }
    if (ipAddress !== '') {
      report('member-target-twice', place)
      continue
    }
    if (rumUrl !== '') report('rum-url-of-hostname', keyAt('spec', 'members', i, 'rumUrl'))
    const key = checkForm(hostname, place, report)
    const other = key === undefined ? undefined : earlier(known, `${key} ${port}`, place)
    if (key === undefined || other === undefined) continue
    report('hostname-duplicate', place, { args: [key, String(port)], other })
  }
  checkCount(metadata.name, spec, report)
}

/** Checks a member whose addresses are discovered. */
function checkSource(
  { answer, members }: PoolSpec,
  i: number,
  known: Map<string, Place>,
  report: Report,
): void {
  const { ipAddress, hostname, from, port, rumUrl } = members[i]!
  const place = valueAt('spec', 'members', i, 'from')
  if (ipAddress !== '' || hostname !== '') {
    report('member-from-twice', place, { args: [ipAddress === '' ? 'hostname' : 'ipAddress'] })
    return
  }
  if (answer === 'cname') report('cname-member-from', place)
  if (rumUrl !== '') report('rum-url-of-hostname', keyAt('spec', 'members', i, 'rumUrl'))
  const other = earlier(known, `${targetOf(members[i]!)} ${port}`, place)
  if (other !== undefined) report('member-from-duplicate', place, { args: [from], other })
}

/** @returns lower case with the last dot; undefined: it is no host name */
function checkForm(hostname: string, place: Place, report: Report): string | undefined {
  const key = hostnameKey(hostname)
  if (key !== undefined) return key
  const { fault } = checkHostName(hostname)
  if (parseAddress(hostname.replace(/\.$/, '')).ok) {
    report('hostname-is-address', place, { args: [hostname] })
  } else if (fault !== undefined) reportFault(fault, place, report)
  else report('hostname-of-one-label', place, { args: [hostname, hostname.replace(/\.$/, '')] })
  return undefined
}

/** Counts the rows of a pool in a bundle, the slots of host names included. */
function checkCount(name: string, { answer, members }: PoolSpec, report: Report): void {
  if (answer === 'cname') return
  const hostnames = members.filter(isHostname).length
  const discovered = members.filter(isDiscoveredMember).length
  const slots =
    (hostnames - discovered) * bundleLimits.slotsPerHostname + discovered * discoveredLimits.slots
  const rows = members.length - hostnames + slots * 2
  const most = bundleLimits.membersPerPoolMax
  if (rows <= most) return
  const args = [name, String(rows), String(most)]
  report('pool-hostnames-many', valueAt('metadata', 'name'), { args })
}

/** Checks the warm-up and the RUM address of a member. */
export const memberExtras: ObjectRule<'Pool'> = ({ spec }, report) => {
  for (const [i, { warmupThreshold, rumUrl }] of spec.members.entries()) {
    if (warmupThreshold > 0 && spec.healthCheck === undefined) {
      const place = valueAt('spec', 'members', i, 'warmupThreshold')
      report('warmup-without-check', place, { args: [String(warmupThreshold)] })
    }
    // The schema checks the scheme.
    if (rumUrl !== '' && !URL.canParse(rumUrl)) {
      report('rum-url-invalid', valueAt('spec', 'members', i, 'rumUrl'), { args: [rumUrl] })
    }
  }
}
