// Checks the address of a member: reachable for clients, and listed once.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import type { ObjectRule } from './object-rule.ts'

export const memberAddress: ObjectRule<'Pool'> = {
  name: 'member-address',
  kind: 'Pool',
  check({ spec }, report) {
    const endpoints = new Map<string, number>()
    const addresses = new Map<string, number>()
    for (const [i, { ipAddress, port }] of spec.members.entries()) {
      if (ipAddress === '') continue
      const place = valueAt('spec', 'members', i, 'ipAddress')
      const { canonical, fault } = checkAddress(ipAddress)
      if (fault !== undefined) report(fault.code, place, fault)
      if (canonical === undefined) continue
      const endpoint = `${canonical} ${port}`
      const same = endpoints.get(endpoint)
      const sameAddress = addresses.get(canonical)
      if (same !== undefined) {
        const other = valueAt('spec', 'members', same, 'ipAddress')
        report('member-duplicate', place, { args: [canonical, String(port)], other })
      } else if (sameAddress !== undefined) {
        const other = valueAt('spec', 'members', sameAddress, 'ipAddress')
        report('member-address-duplicate', place, { args: [canonical], other })
      }
      if (same === undefined) endpoints.set(endpoint, i)
      if (sameAddress === undefined) addresses.set(canonical, i)
    }
  },
}
