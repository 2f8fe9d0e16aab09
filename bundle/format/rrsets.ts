// Defines how a bundle stores rrsets: rows by node and type, and their rdata.

/**
 * A row of `rrsetRow`. The rows of a node are adjacent and sorted by type; nodes with equal rows
 * share them. The type determines how to read the rdata: the SOA serial is a base to which the node
 * adds its own, and the addresses of a service have no row.
 */
export const RrsetCell = { Words: 4, Type: 0, TtlSeconds: 1, Data: 2, Count: 3 } as const

/**
 * `Data` is an offset in `rrsetData`, where `Count` records stand one after the other:
 *
 *     0   length of this record after these two octets, u16 in network order
 *     2   the rdata as in a message, for most types. For those of `rdataForms`:
 *         the target, u32, if the form has one
 *         octets before the name
 *         names, each stored
 *         octets after the last name
 *
 * A stored name: octet count of its labels, a flag, the labels in their written letter case. Flag
 * 1: the apex of the zone follows, written as a compression pointer; flag 0: the root follows.
 *
 * A target: row in `targetNode` + 1 of a name with static addresses here, 0 for others; with
 * `glueBit`, the name is at or below the owner, so that its addresses are found nowhere else.
 */
export const rdataLayout = { lengthBytes: 2, targetBytes: 4 } as const
export const storedName = { prefixBytes: 0, endsAtApex: 1, labels: 2 } as const
export const glueBit = 0x4000_0000

export interface RdataForm {
  /** Octets before the first name. */
  readonly before: number
  readonly names: number
  /** Octets after the last name. */
  readonly after: number
  /** Only in types of RFC 1035: RFC 3597 section 4. */
  readonly isCompressed: boolean
  /** A query for this type needs the addresses of the last name, too. */
  readonly hasTarget: boolean
}

const form = (
  before: number,
  names: number,
  after: number,
  { isCompressed = false, hasTarget = false },
): RdataForm => ({ before, names, after, isCompressed, hasTarget })

/** By type. Names in rdata of other types are written unchanged. */
export const rdataForms: Readonly<Record<number, RdataForm>> = Object.freeze({
  2: form(0, 1, 0, { isCompressed: true, hasTarget: true }), // NS
  5: form(0, 1, 0, { isCompressed: true }), // CNAME
  6: form(0, 2, 20, { isCompressed: true }), // SOA
  12: form(0, 1, 0, { isCompressed: true }), // PTR
  15: form(2, 1, 0, { isCompressed: true, hasTarget: true }), // MX
  33: form(6, 1, 0, { hasTarget: true }), // SRV
  39: form(0, 1, 0, {}), // DNAME, RFC 6672 section 2.5
})

/**
 * The forms as bits by type, for the answer path. 0: no form; else the octets before the name,
 * `Has`, and the rest.
 */
export const FormBit = { BeforeMask: 0x0f, Has: 0x10, Compressed: 0x20, Target: 0x40, Soa: 0x80 }

export const formBits: Uint8Array = (() => {
  const bits = new Uint8Array(0x1_0000)
  for (const [type, { before, names, isCompressed, hasTarget }] of Object.entries(rdataForms)) {
    bits[Number(type)] =
      before |
      FormBit.Has |
      (isCompressed ? FormBit.Compressed : 0) |
      (hasTarget ? FormBit.Target : 0) |
      (names === 2 ? FormBit.Soa : 0)
  }
  return bits
})()

/**
 * Flags, protocol and algorithm of the DNSKEY rrset of a signed zone. A bundle has no keys: the
 * answering node replaces the whole record.
 *
 * @param algorithm its number in DNSKEY records
 * @param hasSignals see `ZoneModel`: the flags say so
 */
export function keyPlaceholder(algorithm: number, hasSignals = false): Uint8Array {
  return Uint8Array.of(1, hasSignals ? 0 : 1, 3, algorithm)
}

export const keyPlaceholderBytes = 4

/** In the flags of a CSYNC record: its serial is a base, as that of SOA is. Not for clients. */
export const CsyncFlag = { Immediate: 1, SoaMinimum: 2, SerialIsBase: 0x8000 } as const
/** Behind the serial. */
export const csyncFlagsAt = 4
