// Generates clients across the address space, as source addresses or client subnets.
import { Random } from '#lib/random.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'

export interface Clients {
  readonly count: number
  /** 4 or 16: of each client. */
  readonly bytes: 4 | 16
  readonly octets: Uint8Array
}

const clientCount = 2 ** 18

/** Any IPv4 address. */
export function clients4(): Clients {
  const random = new Random(11)
  const octets = Buffer.alloc(clientCount * 4)
  for (let i = 0; i < clientCount; i++) octets.writeUInt32BE(random.next(), i * 4)
  return { count: clientCount, bytes: 4, octets }
}

/** Addresses in networks of the table: nearly no other IPv6 address is in use. */
export function clients6(table: RangeTable): Clients {
  const random = new Random(12)
  const octets = Buffer.alloc(clientCount * 16)
  for (let i = 0; i < clientCount; i++) {
    let row = 0
    while (table.value6(row) === 0) row = random.below(table.count6)
    for (let word = 0; word < 4; word++) {
      // Networks of a /32 and of a /64 are both hit below their first address.
      const start = table.start6(row, word)
      const value = word < 2 ? start : random.next()
      octets.writeUInt32BE(value, i * 16 + word * 4)
    }
  }
  return { count: clientCount, bytes: 16, octets }
}
