// How things become rows: their order, their identity, their addresses.
import { parseAddress } from '#dns/address.ts'
import { assert } from '#lib/assert.ts'

/** A copy in the order of the uid's octets. */
export function sortedByUid<T extends { readonly uid: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0))
}

export function uidColumn(items: readonly { readonly uid: string }[]): Uint8Array {
  const column = new Uint8Array(items.length * 16)
  for (const [row, { uid }] of items.entries()) writeUid(column, row * 16, uid)
  return column
}

/** Lower case only, so that the order of the texts is the order of the octets. */
export function writeUid(column: Uint8Array, offset: number, uid: string): void {
  let digits = 0
  for (let i = 0; i < uid.length; i++) {
    const code = uid.charCodeAt(i)
    if (code === 0x2d) continue
    const digit = code >= 0x61 ? code - 0x57 : code - 0x30
    const isHex = digit >= 0 && digit < 16 && (code <= 0x39 || code >= 0x61) && digits < 32
    assert(isHex, 'a uid is a UUID in lower case')
    const at = offset + (digits >> 1)
    column[at] = (digits & 1) === 0 ? digit << 4 : column[at]! | digit
    digits++
  }
  assert(digits === 32, 'a uid has 32 digits')
}

/** Four octets of IPv4 or sixteen of IPv6; the compiler has checked the text. */
export function addressOctets(text: string): Uint8Array {
  const octets = parseAddress(text)
  assert(octets.ok, `the model holds valid addresses, got ${JSON.stringify(text)}`)
  return octets.value
}
