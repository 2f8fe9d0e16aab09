// Checks that the records of one name and type fit one answer.
import { bundleLimits } from '#bundle/format/limits.ts'
import { rdataForms } from '#bundle/format/rrsets.ts'
import { RrType } from '#dns/rrtype.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import type { ReadRrset } from '#compiler/values/record-sets.ts'
import type { ObjectRule } from './object-rule.ts'

export const recordSize: ObjectRule<'Records'> = {
  name: 'record-size',
  kind: 'Records',
  check({ spec }, report) {
    for (const rrset of readRecords(spec).rrsets) {
      const { index, name, type, rdata } = rrset
      const place = recordPlace(index, 'values')
      const bytes = bytesOf(rrset)
      if (bytes > rrsetBytesMax) {
        const args = [type.name, name, String(bytes), String(rrsetBytesMax)]
        report('rrset-too-large', place, { args })
      }
      if (type.code !== RrType.NS || rdata.length <= serversMax) continue
      const args = [String(rdata.length), 'name servers of one name', String(serversMax)]
      report('record-too-many', place, { args })
    }
  },
}

const { rrsetBytesMax, nameserversPerZoneMax: serversMax } = bundleLimits

/** As a bundle counts them: each record with its header, and what is noted of names inside it. */
function bytesOf({ type, rdata }: ReadRrset): number {
  const form = rdataForms[type.code]
  const perRecord = 12 + (form === undefined ? 0 : 4 + 2 * form.names)
  return rdata.reduce((sum, { length }) => sum + length + perRecord, 0)
}
