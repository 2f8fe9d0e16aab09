// Imports a zone file. RFC 1035 section 5.
import { aliasCode, recordTypeOf } from '#compiler/values/record-sets.ts'
import { isWithoutOrigin } from '#dns/rdata-text/name-text.ts'
import { typeNumbers } from '#dns/rdata-text/type-names.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import { err, ok } from '#lib/result.ts'
import type { LeftOut } from '#dns/zone-file/zone-file.ts'
import type { ImportSource, Note } from './imported.ts'

export const zoneFileSource: ImportSource = {
  name: 'zone',
  says: 'a zone file (RFC 1035 with $ORIGIN, $TTL, $INCLUDE and $GENERATE)',
  read(file, options) {
    const parsed = parseZoneFile(file, {
      ...options,
      leaveOut: signerRecords,
      ownType: recordTypeOf(aliasCode),
    })
    const { records, placeOf, faults } = parsed
    if (faults.length > 0) {
      // Without an origin there is one such fault for nearly each record.
      const others = faults.filter(({ message }) => !isWithoutOrigin(message))
      if (options.origin !== undefined || others.length === faults.length) return err(faults)
      // The first $ORIGIN cannot be read: that is why.
      if (others.some(({ message }) => message.startsWith('expected an origin'))) return err(others)
      const message = `the file does not say which zone it is: ${giveOrigin(file.path)}`
      return err([{ path: file.path, line: 1, column: 1, message }, ...others])
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
      notes: [...parsed.leftOut.map(noteOfLeftOut), ...signedNotes(parsed.leftOut)],
    })
  },
}

/** BIND has the name of a zone in named.conf, and people often in the name of the file. */
function giveOrigin(path: string): string {
  const name = path
    .replace(/^.*\//, '')
    .replace(/^db\.|(?:\.(?:zone|db|hosts|txt|signed|bak))+$/g, '')
  // Files of reverse zones often have the network alone (`db.192.0.2`).
  const isName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.(?!\d+$)[a-z0-9-]+$/i.test(name)
  return `give its name with --origin${isName ? `, such as --origin ${name}` : ''}`
}

/** Records made by a signer that depend on the content of the zone. */
const signerTypes: ReadonlyMap<string, number> = new Map(
  [
    'SIG',
    'NXT',
    'RRSIG',
    'NSEC',
    'DNSKEY',
    'NSEC3',
    'NSEC3PARAM',
    'CDS',
    'CDNSKEY',
    'CSYNC',
    'ZONEMD',
  ].map((name) => [name, typeNumbers[name]!]),
)
export const signerRecords: ReadonlySet<number> = new Set(signerTypes.values())
const signerNames = new Set([...signerTypes].flatMap(([name, code]) => [name, `TYPE${code}`]))

/** Validators ask for DNSKEY and RRSIG where the parent has DS records. */
const signatures: readonly string[] = ['RRSIG', 'DNSKEY']

function signedNotes(leftOut: readonly LeftOut[]): Note[] {
  const first = leftOut.find(({ type }) => signatures.includes(type))
  if (first === undefined) return []
  const text =
    'the zone is signed: first give its key to the nodes and set dnssec of the zone, or remove ' +
    'its DS records in the zone above and wait until their TTL is over; else validating ' +
    'resolvers answer SERVFAIL'
  return [{ is: 'not mapped', place: first.place, text }]
}

export function noteOfLeftOut({ type, count, place }: LeftOut): Note {
  const records = count === 1 ? `one ${type} record` : `${count} ${type} records, this is the first`
  if (signerNames.has(type)) {
    return { is: 'left out', place, text: `${records}: a server that signs makes its own` }
  }
  if (type === 'TSIG') {
    return { is: 'left out', place, text: `${records}: the signature of a transfer` }
  }
  const code = typeNumbers[type]
  const other = code === undefined ? 'there is no such type' : `write it as TYPE${code} \\# …`
  return { is: 'not mapped', place, text: `${records}, whose form is not known here: ${other}` }
}
