// Every record type with a form of its own; all others have that of RFC 3597.
import { metaTypeMax, metaTypeMin, RrType } from '#dns/rrtype.ts'
import { foldTable } from '#dns/name.ts'
import { unknownRdataType } from '#dns/rdata-text/rdata-type.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import { typeNumbers } from '#dns/rdata-text/type-names.ts'
import { tokensOf } from '#dns/rdata-text/tokens.ts'
import type { RdataFault } from '#dns/rdata-text/tokens.ts'
import type { Result } from '#lib/result.ts'
import { a } from './a.ts'
import { aaaa } from './aaaa.ts'
import { afsdb } from './afsdb.ts'
import { apl } from './apl.ts'
import { caa } from './caa.ts'
import { cert } from './cert.ts'
import { cname } from './cname.ts'
import { csync } from './csync.ts'
import { dhcid } from './dhcid.ts'
import { dname } from './dname.ts'
import { ds } from './ds.ts'
import { eui48 } from './eui48.ts'
import { eui64 } from './eui64.ts'
import { hinfo } from './hinfo.ts'
import { hip } from './hip.ts'
import { https } from './https.ts'
import { ipseckey } from './ipseckey.ts'
import { isdn } from './isdn.ts'
import { key } from './key.ts'
import { kx } from './kx.ts'
import { l32 } from './l32.ts'
import { l64 } from './l64.ts'
import { loc } from './loc.ts'
import { lp } from './lp.ts'
import { minfo } from './minfo.ts'
import { mx } from './mx.ts'
import { naptr } from './naptr.ts'
import { nid } from './nid.ts'
import { ns } from './ns.ts'
import { openpgpkey } from './openpgpkey.ts'
import { ptr } from './ptr.ts'
import { px } from './px.ts'
import { rp } from './rp.ts'
import { rt } from './rt.ts'
import { smimea } from './smimea.ts'
import { soa } from './soa.ts'
import { spf } from './spf.ts'
import { srv } from './srv.ts'
import { sshfp } from './sshfp.ts'
import { svcb } from './svcb.ts'
import { tlsa } from './tlsa.ts'
import { txt } from './txt.ts'
import { uri } from './uri.ts'
import { x25 } from './x25.ts'
import { zonemd } from './zonemd.ts'

export const rdataTypes: readonly RdataType[] = Object.freeze([
  a,
  ns,
  cname,
  soa,
  ptr,
  hinfo,
  minfo,
  mx,
  txt,
  rp,
  afsdb,
  x25,
  isdn,
  rt,
  key,
  px,
  aaaa,
  loc,
  srv,
  naptr,
  kx,
  cert,
  dname,
  apl,
  ds,
  sshfp,
  ipseckey,
  dhcid,
  tlsa,
  smimea,
  hip,
  openpgpkey,
  csync,
  zonemd,
  svcb,
  https,
  spf,
  nid,
  l32,
  l64,
  lp,
  eui48,
  eui64,
  uri,
  caa,
])

const byCode = new Map(rdataTypes.map((type) => [type.code, type]))
const byName = new Map(rdataTypes.map((type) => [type.name, type]))

export function rdataTypeOf(code: number): RdataType {
  return byCode.get(code) ?? unknownRdataType(code)
}

/** Whether a type can be written otherwise than in the form of any type. */
export const hasOwnForm = ({ code }: RdataType): boolean => byCode.has(code)

/**
 * @param name `MX` or `TYPE65280`, in either case
 * @returns undefined for what is no type, and for types that no zone can hold
 */
export function rdataTypeNamed(name: string): RdataType | undefined {
  const upper = byName.has(name) ? name : name.toUpperCase()
  const known = byName.get(upper)
  if (known !== undefined) return known
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1] ?? typeNumbers[upper]
  const code = digits === undefined ? 0 : Number(digits)
  const isMeta = (code >= metaTypeMin && code <= metaTypeMax) || code === RrType.OPT
  return code === 0 || code > 0xffff || isMeta ? undefined : rdataTypeOf(code)
}

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
