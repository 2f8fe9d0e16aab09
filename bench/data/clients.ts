// Generates clients all over the address space, as source addresses or client subnets.
import { Random } from '#lib/random.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'

export interface Clients {
  readonly count: number
  /** 4 or 16: of each client. */
  readonly bytes: 4 | 16
  readonly octets: Uint8Array
}

export const clientCount = 2 ** 18

/** Any IPv4 address. */
export function clients4(): Clients {
  const random = new Random(11)
  const octets = Buffer.alloc(clientCount * 4)
  for (let i = 0; i < clientCount; i++) octets.writeUInt32BE(random.next(), i * 4)
  return { count: clientCount, bytes: 4, octets }
}

/** In any network that the table knows: of all IPv6 addresses nearly none is in use. */
export function clients6(table: RangeTable): Clients {
  const random = new Random(12)
  const octets = Buffer.alloc(clientCount * 16)
  for (let i = 0; i < clientCount; i++) {
    let row = 0
    while (table.value6(row) === 0) row = random.below(table.count6)
    for (let word = 0; word < 4; word++) {
      // The first row of a network may be a /32 or a /64: both are met below its first address.
      const start = table.start6(row, word)
      const value = word < 2 ? start : random.next()
      octets.writeUInt32BE(value, i * 16 + word * 4)
    }
  }
  return { count: clientCount, bytes: 16, octets }
}
