// Collects the host names of members: the rows of their slots, and their names in octets.
import { HostnameCell, slotsOfHostname } from '#bundle/format/hostnames.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { MemberModel } from '#bundle/format/model.ts'
import { RecordPool, wireOf } from './record-pool.ts'

/** Asked for each row of a member with a host name, in the order of the rows. */
export class HostnameRows {
  readonly #cells: number[] = []
  readonly #names = new RecordPool()
  /** Row of `hostnameRow`, and how many of its slots have been asked for. */
  readonly #known = new Map<MemberModel, { readonly row: number; asked: number }>()

  /**
   * What stands in place of an address.
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

/** Runs of members that stay side by side. */
interface MemberSpan {
  readonly fromMember: number
  readonly toMember: number
  readonly members: number
}

/** The rows of members that stay, in order. No other member has any. */
export function copyHostnames(column: Uint32Array, spans: readonly MemberSpan[]) {
  const copy = Uint32Array.from(column)
  let span = 0
  for (let at = 0; at < copy.length; at += HostnameCell.Words) {
    const first = copy[at + HostnameCell.First4]!
    while (spans[span]!.fromMember + spans[span]!.members <= first) span++
    const { fromMember, toMember } = spans[span]!
    for (const cell of [HostnameCell.First4, HostnameCell.First6]) {
      copy[at + cell] = copy[at + cell]! - fromMember + toMember
    }
  }
  return copy
}
