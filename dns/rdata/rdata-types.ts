// The table of record types with a presentation form of their own; all others use that of RFC 3597.
import { metaTypeMax, metaTypeMin, RrType } from '#dns/rrtype.ts'
import { foldTable } from '#dns/name.ts'
import { unknownRdataType } from '#dns/rdata-text/rdata-type.ts'
import type { RdataType } from '#dns/rdata-text/rdata-type.ts'
import { typeNumbers } from '#dns/rdata-text/type-names.ts'
import { tokensOf } from '#dns/rdata-text/tokens.ts'
import type { RdataFault } from '#dns/rdata-text/tokens.ts'
import type { Result } from '#lib/result.ts'
import { fieldTypes } from './field-types.ts'
import { apl } from './apl.ts'
import { caa } from './caa.ts'
import { hip } from './hip.ts'
import { ipseckey } from './ipseckey.ts'
import { key } from './key.ts'
import { naptr } from './naptr.ts'

/** Sorted by code. */
export const rdataTypes: readonly RdataType[] = Object.freeze(
  [...fieldTypes, key, naptr, apl, ipseckey, hip, caa].toSorted(
    (one, other) => one.code - other.code,
  ),
)

const byCode = new Map(rdataTypes.map((type) => [type.code, type]))
const byName = new Map(rdataTypes.map((type) => [type.name, type]))

export function rdataTypeOf(code: number): RdataType {
  return byCode.get(code) ?? unknownRdataType(code)
}

/** False for types that can only be written in the generic form of RFC 3597. */
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

/** Parses one value in presentation form, as a configuration has it. */
export function parseRdata(
  type: RdataType,
  text: string,
  origin?: Uint8Array,
): Result<Uint8Array, RdataFault> {
  const tokens = tokensOf(text)
  return tokens.ok ? type.parse(tokens.value, origin) : tokens
}

/**
 * Canonical form, which is signed and compared: names in lower case where RFC 4034 section 6.2 says
 * so.
 */
export function canonicalRdata(type: RdataType, rdata: Uint8Array): Uint8Array {
  const offsets = type.namesFold ? (type.nameOffsets(rdata) ?? []) : []
  if (offsets.length === 0) return rdata
  // A Buffer, which data of a message is, would share its octets with a `slice`.
  const canonical = new Uint8Array(rdata)
  for (const offset of offsets) {
    for (let at = offset; canonical[at] !== 0; at += canonical[at]! + 1) {
      for (let i = 1; i <= canonical[at]!; i++) canonical[at + i] = foldTable[canonical[at + i]!]!
    }
  }
  return canonical
}
