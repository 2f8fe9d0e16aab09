// Checks that the records of one name and type fit one answer.
import { parseName } from '#dns/name.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import type { ReadRrset } from '#compiler/values/record-sets.ts'
import type { ObjectRule } from './object-rule.ts'

/**
 * A message of 65,535 octets without its header, the longest question, an OPT record, and a
 * signature of the transaction (RFC 8945) by a key of the longest name.
 */
export const rrsetBytesMax = 65_535 - 12 - 259 - 11 - 600

export const recordSize: ObjectRule<'Records'> = {
  name: 'record-size',
  kind: 'Records',
  check({ spec }, report) {
    for (const rrset of readRecords(spec).rrsets) {
      const bytes = bytesOf(rrset)
      if (bytes <= rrsetBytesMax) continue
      const args = [rrset.type.name, rrset.name, String(bytes), String(rrsetBytesMax)]
      report('rrset-too-large', recordPlace(rrset.index, 'values'), { args })
    }
  },
}

/** In a transfer, where nothing needs to be compressed: each record has its owner. */
function bytesOf({ name, rdata }: ReadRrset): number {
  const data = rdata.reduce((sum, { length }) => sum + length, 0)
  if (rdata.length > 1) return data + rdata.length * 12
  const owner = parseName(name)
  return data + 10 + (owner.ok ? owner.value.length : 0)
}
