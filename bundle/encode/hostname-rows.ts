// Collects the host names of members: the rows of their slots, and their names in octets.
import { discoveredWire, isDiscoveredName } from '#bundle/discovered/from.ts'
import { HostnameCell, partsOf, slotsOfHostname } from '#bundle/format/hostnames.ts'
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
  /** First row of `hostnameRow`, and how many of its slots have been requested. */
  readonly #known = new Map<MemberModel, { readonly row: number; asked: number }>()

  /**
   * Returns the octets in place of an address.
   *
   * @param kind bits of MemberFlag
   * @param octetCount 4 or 16
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
      const name = this.#nameOf(member)
      for (let part = 0; part < partsOf(member.hostname); part++) this.#cells.push(0, 0, name)
    }
    const asked = known.asked++
    const { slotsPerHostname } = bundleLimits
    const parts = partsOf(member.hostname)
    const isIpv6 = asked >= parts * slotsPerHostname
    const inFamily = isIpv6 ? asked - parts * slotsPerHostname : asked
    const hostname = known.row + Math.floor(inFamily / slotsPerHostname)
    const place = inFamily % slotsPerHostname
    const cell = isIpv6 ? HostnameCell.First6 : HostnameCell.First4
    if (place === 0) this.#cells[hostname * HostnameCell.Words + cell] = row
    return hostname * slotsOfHostname + place + (isIpv6 ? slotsPerHostname : 0)
  }

  #nameOf({ hostname }: MemberModel): number {
    const wire = isDiscoveredName(hostname) ? discoveredWire(hostname) : wireOf(hostname)
    return this.#names.add(Buffer.from([wire.length, ...wire]))
  }

  columns() {
    return { hostnameRow: Uint32Array.from(this.#cells), hostnameNames: this.#names.bytes() }
  }
}
