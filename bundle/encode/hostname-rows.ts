// Collects the host names of members: the rows of their slots, and their names in octets.
import { HostnameCell, slotsOfHostname } from '#bundle/format/hostnames.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { MemberModel } from '#bundle/format/model.ts'
import { RecordPool, wireOf } from './record-pool.ts'

/**
 * Collects host names; called for each row of a member with a host name, in the order of the rows.
 */
export class HostnameRows {
  readonly #cells: number[] = []
  readonly #names = new RecordPool()
  /** Row of `hostnameRow`, and the number of its slots requested so far. */
  readonly #known = new Map<MemberModel, { readonly row: number; asked: number }>()

  /**
   * Returns the octets in place of an address. @param kind bits of MemberFlag @param octetCount 4
   * or 16
   */
  octetsOf(member: MemberModel, kind: number, row: number, octetCount: number): Uint8Array {
    const octets = Buffer.alloc(octetCount)
    octets.writeUInt32BE(kind === MemberFlag.Alias ? this.#nameOf(member) : this.#slot(member, row))
    return octets
  }

  #slot(member: MemberModel, row: number): number {
    let known = this.#known.get(member)
    if (known === undefined) {
      known = { row: this.#cells.length / HostnameCell.Words, asked: 0 }
      this.#known.set(member, known)
      this.#cells.push(row, 0, this.#nameOf(member))
    }
    const place = known.asked++
    if (place === bundleLimits.slotsPerHostname) {
      this.#cells[known.row * HostnameCell.Words + HostnameCell.First6] = row
    }
    return known.row * slotsOfHostname + place
  }

  #nameOf({ hostname }: MemberModel): number {
    const wire = wireOf(hostname)
    return this.#names.add(Buffer.from([wire.length, ...wire]))
  }

  columns() {
    return { hostnameRow: Uint32Array.from(this.#cells), hostnameNames: this.#names.bytes() }
  }
}
