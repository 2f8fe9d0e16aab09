// Writes what browsers measured to the journal: each change of the table as it comes.
import { MeasuredMark, MeasuredWriter } from './measured-entries.ts'
import type { MeasuredNetwork } from './measured-entries.ts'
import { journalLimits } from '#journal/format/limits.ts'
import { OctetWriter } from '#journal/format/octets.ts'
import type { SideLog, SideSource } from './side-log.ts'

/** Hears of each change of the table. Networks and uids stay the same objects while they last. */
export interface RumWatch {
  /** @param before its code until now; below 0: there was none */
  readonly averaged: (
    network: MeasuredNetwork,
    uid: Uint32Array,
    before: number,
    code: number,
  ) => void
  /** @param isLast the network has no other average */
  readonly forgotten: (network: MeasuredNetwork, uid: Uint32Array, isLast: boolean) => void
}

/** The table of measurements: a RumStore. */
export interface MeasuredTable {
  readonly watch: (watch: RumWatch) => void
  readonly count: number
  /** All averages; the ones of a network stand in a row. */
  readonly averages: () => Iterable<{
    readonly network: MeasuredNetwork
    readonly uid: Uint32Array
    readonly code: number
  }>
}

/** The table of a node that browsers report nothing to. */
export const nothingMeasured: MeasuredTable = Object.freeze({
  watch: () => undefined,
  count: 0,
  averages: () => [],
})

/** Octets of an average in a table that is written whole, with its part of a network's name. */
const averageBytes = 7

export class MeasuredSource implements SideSource {
  readonly #table: MeasuredTable
  readonly #writer = new MeasuredWriter()

  constructor(table: MeasuredTable) {
    this.#table = table
  }

  /** From now on changes are written. */
  watch(log: SideLog): void {
    this.#table.watch({
      averaged: (network, uid, before, code) => {
        const to = log.entry()
        if (to !== undefined) this.#writer.average(to, network, uid, before, code)
      },
      forgotten: (network, uid, isLast) => {
        const to = log.entry()
        if (to !== undefined) this.#writer.forgotten(to, network, uid, isLast)
      },
    })
  }

  estimate(): number {
    return this.#table.count * averageBytes
  }

  whole(): Buffer[] {
    const payloads: Buffer[] = []
    const to = new OctetWriter(4_096)
    this.#writer.mark(to, MeasuredMark.Begin)
    for (const { network, uid, code } of this.#table.averages()) {
      this.#writer.average(to, network, uid, -1, code)
      if (to.length >= journalLimits.payloadBytes) payloads.push(to.take())
    }
    this.#writer.mark(to, MeasuredMark.Whole)
    payloads.push(to.take())
    return payloads
  }

  writeEnd(to: OctetWriter): void {
    this.#writer.mark(to, MeasuredMark.Limit)
  }

  forget(): void {
    this.#writer.forget()
  }
}
