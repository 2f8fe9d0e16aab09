// Every record type with a form of its own; all others have that of RFC 3597.
import { metaTypeMax, metaTypeMin, RrType } from '#dns/rrtype.ts'
import { foldTable } from '#dns/name.ts'
import { unknownRdataType } from '#dns/rdata-text/rdata-type.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import { tokensOf } from '#dns/rdata-text/tokens.ts'
import type { RdataFault } from '#dns/rdata-text/tokens.ts'
import type { Result } from '#lib/result.ts'
import { a } from './a.ts'
import { aaaa } from './aaaa.ts'
import { caa } from './caa.ts'
import { cert } from './cert.ts'
import { cname } from './cname.ts'
import { dname } from './dname.ts'
import { ds } from './ds.ts'
import { hinfo } from './hinfo.ts'
import { https } from './https.ts'
import { loc } from './loc.ts'
import { mx } from './mx.ts'
import { naptr } from './naptr.ts'
import { ns } from './ns.ts'
import { openpgpkey } from './openpgpkey.ts'
import { ptr } from './ptr.ts'
import { smimea } from './smimea.ts'
import { soa } from './soa.ts'
import { spf } from './spf.ts'
import { srv } from './srv.ts'
import { sshfp } from './sshfp.ts'
import { svcb } from './svcb.ts'
import { tlsa } from './tlsa.ts'
import { txt } from './txt.ts'
import { uri } from './uri.ts'

export const rdataTypes: readonly RdataType[] = Object.freeze([
  a,
  ns,
  cname,
  soa,
  ptr,
  hinfo,
  mx,
  txt,
  aaaa,
  loc,
  srv,
  naptr,
  cert,
  dname,
  ds,
  sshfp,
  tlsa,
  smimea,
  openpgpkey,
  svcb,
  https,
  spf,
  uri,
  caa,
])

const byCode = new Map(rdataTypes.map((type) => [type.code, type]))
const byName = new Map(rdataTypes.map((type) => [type.name, type]))

export function rdataTypeOf(code: number): RdataType {
  return byCode.get(code) ?? unknownRdataType(code)
}

/**
 * @param name `MX` or `TYPE65280`, in either case
 * @returns undefined for what is no type, and for types that no zone can hold
 */
export function rdataTypeNamed(name: string): RdataType | undefined {
  const upper = byName.has(name) ? name : name.toUpperCase()
  const known = byName.get(upper)
  if (known !== undefined) return known
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1] ?? otherTypes[upper]
  const code = digits === undefined ? 0 : Number(digits)
  const isMeta = (code >= metaTypeMin && code <= metaTypeMax) || code === RrType.OPT
  return code === 0 || code > 0xffff || isMeta ? undefined : rdataTypeOf(code)
}

/** Types known by name whose rdata is written in the form of any type. */
const otherTypes: Readonly<Record<string, string>> = Object.freeze({
  RP: '17',
  AFSDB: '18',
  SIG: '24',
  KEY: '25',
  APL: '42',
  IPSECKEY: '45',
  RRSIG: '46',
  NSEC: '47',
  DNSKEY: '48',
  DHCID: '49',
  NSEC3: '50',
  NSEC3PARAM: '51',
  HIP: '55',
  CDS: '59',
  CDNSKEY: '60',
  CSYNC: '62',
  ZONEMD: '63',
  NID: '104',
  L32: '105',
  L64: '106',
  LP: '107',
  EUI48: '108',
  EUI64: '109',
})

/** Reads one value in presentation form, as it stands in a configuration. */
export function parseRdata(
  type: RdataType,
  text: string,
  origin?: Uint8Array,
): Result<Uint8Array, RdataFault> {
  const tokens = tokensOf(text)
  return tokens.ok ? type.parse(tokens.value, origin) : tokens
}

/** The form that is signed and compared: names in lower case where RFC 4034 section 6.2 says so. */
export function canonicalRdata(type: RdataType, rdata: Uint8Array): Uint8Array {
  const offsets = type.namesFold ? (type.nameOffsets(rdata) ?? []) : []
  if (offsets.length === 0) return rdata
  const canonical = rdata.slice()
  for (const offset of offsets) {
    for (let at = offset; canonical[at] !== 0; at += canonical[at]! + 1) {
      for (let i = 1; i <= canonical[at]!; i++) canonical[at + i] = foldTable[canonical[at + i]!]!
    }
  }
  return canonical
}
