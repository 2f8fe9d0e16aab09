// Checks that records which name a host do not name an address.
import {
  hostIn,
  isAddressName,
  namesHost,
  readRecords,
  recordPlace,
} from '#compiler/values/record-sets.ts'
import type { ObjectRule } from './object-rule.ts'

export const recordHosts: ObjectRule<'Records'> = {
  name: 'record-hosts',
  kind: 'Records',
  check({ spec }, report) {
    const { zone = '', rrsets } = readRecords(spec)
    for (const { index, type, rdata, from } of rrsets) {
      if (!namesHost(type.code)) continue
      for (const [i, octets] of rdata.entries()) {
        if (!isAddressName(hostIn(type.code, octets), zone)) continue
        const written = spec.records[index]!.values[from[i]!]!
        const args = [written.trim().split(/\s+/).at(-1)!, type.name]
        report('record-target-address', recordPlace(index, 'values', from[i]!), { args })
      }
    }
  },
}
