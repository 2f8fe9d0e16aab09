// Checks what members point to: an address or a host name, and as many as a pool can answer.
import { bundleLimits } from '#bundle/format/limits.ts'
import { parseAddress } from '#dns/address.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { hostnameKey, isHostname } from '#compiler/values/member-target.ts'
import { checkHostName } from '#compiler/values/names.ts'
import type { PoolSpec } from '#schemas/objects/pool.ts'
import type { ObjectRule } from './object-rule.ts'

export const memberHostname: ObjectRule<'Pool'> = {
  name: 'member-hostname',
  kind: 'Pool',
  check({ metadata, spec }, report) {
    const known = new Map<string, number>()
    for (const [i, member] of spec.members.entries()) {
      const { ipAddress, hostname, port, rumUrl } = member
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
      const key = checkForm(hostname, i, report)
      if (key === undefined) continue
      const endpoint = `${key} ${port}`
      const same = known.get(endpoint)
      if (same === undefined) known.set(endpoint, i)
      else {
        const other = valueAt('spec', 'members', same, 'hostname')
        report('hostname-duplicate', place, { args: [key, String(port)], other })
      }
    }
    checkCount(metadata.name, spec, report)
  },
}

/** @returns lower case with the last dot; undefined: it is no host name */
function checkForm(hostname: string, member: number, report: Report): string | undefined {
  const place = valueAt('spec', 'members', member, 'hostname')
  const key = hostnameKey(hostname)
  if (key !== undefined) return key
  const { fault } = checkHostName(hostname)
  if (parseAddress(hostname.replace(/\.$/, '')).ok) {
    report('hostname-is-address', place, { args: [hostname] })
  } else if (fault !== undefined) report(fault.code, place, fault)
  else report('hostname-of-one-label', place, { args: [hostname, hostname.replace(/\.$/, '')] })
  return undefined
}

/** The rows that a pool takes in a bundle: those of a host name are kept for it. */
function checkCount(name: string, { answer, members }: PoolSpec, report: Report): void {
  if (answer === 'cname') return
  const hostnames = members.filter(isHostname).length
  const rows = members.length - hostnames + hostnames * bundleLimits.slotsPerHostname * 2
  const most = bundleLimits.membersPerPoolMax
  if (rows <= most) return
  report('pool-hostnames-many', valueAt('metadata', 'name'), {
    args: [name, String(rows), String(most)],
  })
}
