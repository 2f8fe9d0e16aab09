// Takes over a zone file. RFC 1035 section 5.
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import { err, ok } from '#lib/result.ts'
import type { LeftOut } from '#dns/zone-file/zone-file.ts'
import type { ImportSource, Note } from './imported.ts'

export const zoneFileSource: ImportSource = {
  name: 'zone',
  says: 'a zone file (RFC 1035 with $ORIGIN, $TTL, $INCLUDE and $GENERATE)',
  read(file, options) {
    const parsed = parseZoneFile(file, { ...options, leaveOut: signerRecords })
    const { records, placeOf, faults } = parsed
    if (faults.length > 0) {
      const needsOrigin = faults.some(({ message }) => message.includes('origin'))
      if (options.origin !== undefined || !needsOrigin) return err(faults)
      const message = 'the file does not say which zone it is: give its name with --origin'
      return err([...faults, { path: file.path, line: 1, column: 1, message }])
    }
    if (records.length === 0) {
      const message = 'there is no record in this file; give the file of a zone'
      return err([{ path: file.path, line: 1, column: 1, message }])
    }
    return ok({
      origin: options.origin,
      records,
      placeOf,
      objects: [],
      notes: parsed.leftOut.map(noteOfLeftOut),
    })
  },
}

/** Records that a signer makes, and that say what its zone holds. */
const signerTypes: ReadonlyMap<number, string> = new Map([
  [24, 'SIG'],
  [30, 'NXT'],
  [46, 'RRSIG'],
  [47, 'NSEC'],
  [48, 'DNSKEY'],
  [50, 'NSEC3'],
  [51, 'NSEC3PARAM'],
  [59, 'CDS'],
  [60, 'CDNSKEY'],
  [62, 'CSYNC'],
  [63, 'ZONEMD'],
])
export const signerRecords: ReadonlySet<number> = new Set(signerTypes.keys())

export function noteOfLeftOut({ type, count, place }: LeftOut): Note {
  const name = signerTypes.get(type)!
  const records = count === 1 ? `one ${name} record` : `${count} ${name} records, this is the first`
  return { is: 'left out', place, text: `${records}: a server that signs makes its own` }
}
