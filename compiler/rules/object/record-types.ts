// Checks which types of records may stand where: at the apex, at a wildcard, and more than once.
import { RrType } from '#dns/rrtype.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import type { RecordsSpec } from '#schemas/objects/records.ts'
import type { ReadRrset } from '#compiler/values/record-sets.ts'
import type { Report } from '#diagnostics/finding.ts'
import type { ObjectRule } from './object-rule.ts'

export const recordTypes: ObjectRule<'Records'> = {
  name: 'record-types',
  kind: 'Records',
  check({ spec }, report) {
    const { zone, rrsets } = readRecords(spec)
    for (const rrset of rrsets) {
      checkMade(rrset, spec, zone, report)
      checkWildcard(rrset, report)
      const { index, type, rdata } = rrset
      if (!singleTypes.includes(type.code) || rdata.length < 2) continue
      const args = [rrset.name, type.name, String(rdata.length)]
      report('record-alias-several', recordPlace(index, 'values'), { args })
    }
  },
}

/** RFC 2181 section 10.1, RFC 6672 section 2.4; of ALIAS, as others have it. */
const singleTypes: readonly number[] = [RrType.CNAME, RrType.DNAME, aliasCode]

/** RFC 4034, RFC 5155, RFC 8976: they cover what the zone holds at one moment. */
const signingTypes: readonly number[] = [24, 46, 47, 48, 50, 51, 63]

function checkMade(
  { index, name, type }: ReadRrset,
  { records }: RecordsSpec,
  zone: string | undefined,
  report: Report,
): void {
  const isApex = name === zone
  const place = recordPlace(index, 'type')
  if (type.code === RrType.SOA) {
    report('record-of-settings', place, { args: ['SOA', zone ?? name, 'soa'] })
  } else if (isApex && type.code === RrType.NS) {
    report('record-of-settings', place, { args: ['NS', name, 'nameservers'] })
  } else if (isApex && type.code === RrType.CNAME) {
    report('cname-at-apex', place, { args: [name] })
  } else if (signingTypes.includes(type.code)) {
    report('record-of-signer', place, { args: [records[index]!.type.toUpperCase()] })
  }
}

/** RFC 4592 sections 4.2, 4.4 and 4.6: nobody agrees on what these would mean. */
function checkWildcard({ index, name, type }: ReadRrset, report: Report): void {
  const isOdd = [RrType.NS, RrType.DNAME, RrType.DS].some((code) => code === type.code)
  if (!isOdd || !name.startsWith('*.')) return
  report('record-wildcard-type', recordPlace(index, 'type'), { args: [name, type.name] })
}
