// Layout of redirects in a bundle, and the lookup of a rule by host name.
import { formatName, hashNameAt } from '#dns/name.ts'

/** A redirect, resolved. */
export interface RedirectModel {
  readonly uid: string
  readonly tenant: string
  /** Lower case, trailing dot; for a wildcard, the name below which it answers. */
  readonly host: string
  readonly isWildcard: boolean
  /** Printable ASCII that begins with http:// or https://. */
  readonly target: string
  readonly code: RedirectCode
  readonly preservePath: boolean
  /** `max-age` of Strict-Transport-Security (RFC 6797); 0: the header is not sent. */
  readonly hstsSeconds: number
  readonly hstsIncludeSubDomains: boolean
}

/** By code number. */
export const redirectCodeOf = [301, 302, 307, 308] as const
type RedirectCode = (typeof redirectCodeOf)[number]

/** The sections of redirects, which need no other section. */
export interface RedirectColumns {
  /** Rows are sorted by uid. */
  readonly redirectUid: Uint8Array
  /** Cells of RedirectCell. */
  readonly redirectRow: Uint32Array
  /** Hosts in wire form; targets and tenants in UTF-8, each stored once. */
  readonly redirectText: Uint8Array
  /**
   * Open addressing, linear probing: pairs of (hash, row + 1), 0 in the second is a free slot. A
   * last pair holds the seed of the hash, and the number of wildcard rules.
   */
  readonly redirectIndex: Uint32Array
}

/**
 * `Host`, `Target` and `Tenant` are offsets in `redirectText`. `Bits`, from the lowest: 8 bits for
 * the length of the host, one for each flag of RedirectBits, two for the code.
 */
export const RedirectCell = {
  Words: 7,
  Host: 0,
  Bits: 1,
  Target: 2,
  TargetBytes: 3,
  Tenant: 4,
  TenantBytes: 5,
  HstsSeconds: 6,
} as const

export const RedirectBits = {
  HostMask: 0xff,
  Wildcard: 0x100,
  PreservePath: 0x200,
  IncludeSubDomains: 0x400,
  CodeShift: 11,
} as const

/** Elements of `redirectIndex` behind its slots. */
export const redirectTrailer = 2

/**
 * The row for a host, or -1: that of the host itself, else of the deepest wildcard above it.
 *
 * @param name in wire form, lower case
 */
export function findRedirect(columns: RedirectColumns, name: Uint8Array): number {
  const { redirectIndex } = columns
  const slots = (redirectIndex.length - redirectTrailer) / 2
  if (slots <= 0) return -1
  const exact = findRow(columns, name, 0, 0)
  if (exact >= 0 || redirectIndex[redirectIndex.length - 1] === 0) return exact
  for (let at = name[0]! + 1; name[at] !== 0; at += name[at]! + 1) {
    const row = findRow(columns, name, at, RedirectBits.Wildcard)
    if (row >= 0) return row
  }
  return -1
}

/** @param wildcard its bit, or 0 */
function findRow(
  { redirectIndex, redirectRow, redirectText }: RedirectColumns,
  name: Uint8Array,
  start: number,
  wildcard: number,
): number {
  const slots = (redirectIndex.length - redirectTrailer) / 2
  const mask = slots - 1
  const hash = hashNameAt(name, start, redirectIndex[slots * 2]!) >>> 0
  const wanted = (endOfName(name, start) - start) | wildcard
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const row = redirectIndex[slot * 2 + 1]! - 1
    if (row < 0) return -1
    if (redirectIndex[slot * 2] !== hash) continue
    const at = row * RedirectCell.Words
    const bits = redirectRow[at + RedirectCell.Bits]!
    if ((bits & (RedirectBits.HostMask | RedirectBits.Wildcard)) !== wanted) continue
    if (isSame(redirectText, redirectRow[at + RedirectCell.Host]!, name, start)) return row
  }
}

function endOfName(name: Uint8Array, start: number): number {
  let end = start
  while (name[end] !== 0) end += name[end]! + 1
  return end + 1
}

/** Compares names of equal length. */
function isSame(texts: Uint8Array, offset: number, name: Uint8Array, start: number): boolean {
  const end = endOfName(name, start)
  for (let at = start; at < end; at++) {
    if (texts[offset + at - start] !== name[at]) return false
  }
  return true
}

/** A row without its uid. */
export function redirectAt(columns: RedirectColumns, row: number): Omit<RedirectModel, 'uid'> {
  const { redirectRow, redirectText } = columns
  const at = row * RedirectCell.Words
  const bits = redirectRow[at + RedirectCell.Bits]!
  return {
    tenant: textAt(columns, at + RedirectCell.Tenant),
    host: formatName(redirectText, redirectRow[at + RedirectCell.Host]),
    isWildcard: (bits & RedirectBits.Wildcard) !== 0,
    target: textAt(columns, at + RedirectCell.Target),
    code: redirectCodeOf[bits >>> RedirectBits.CodeShift]!,
    preservePath: (bits & RedirectBits.PreservePath) !== 0,
    hstsSeconds: redirectRow[at + RedirectCell.HstsSeconds]!,
    hstsIncludeSubDomains: (bits & RedirectBits.IncludeSubDomains) !== 0,
  }
}

/** @param cell of the offset; the length is in the next one */
function textAt({ redirectRow, redirectText }: RedirectColumns, cell: number): string {
  const start = redirectRow[cell]!
  const { buffer, byteOffset } = redirectText
  return Buffer.from(buffer, byteOffset + start, redirectRow[cell + 1]).toString('utf8')
}
