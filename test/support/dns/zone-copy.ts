// A copy of a zone as a strict secondary keeps it: what a transfer takes away must be there, and
// what it adds must not.
import type { Message } from './message.ts'
import type { ResourceRecord } from './record.ts'
import { lineOf } from './record.ts'

const soaType = 6

export type TransferForm = 'soa' | 'whole' | 'changes'

/** The serial in a SOA record. */
const serialOfSoa = ({ rdataText }: ResourceRecord): number => Number(rdataText.split(' ')[2])

export class ZoneCopy {
  serial = -1
  /** Lines, the SOA among them. */
  readonly lines = new Set<string>()

  /**
   * @returns which form the reply has.
   * @throws Error when it has none, or does not fit
   */
  take(messages: readonly Message[]): TransferForm {
    const records = messages.flatMap(({ answer }) => answer)
    const [first, second] = records
    if (first?.type !== soaType) throw new Error('the first record is no SOA')
    if (second === undefined) return 'soa'
    const isWhole = second.type !== soaType || serialOfSoa(second) === serialOfSoa(first)
    if (isWhole) this.#replace(records)
    else this.#change(records)
    this.serial = serialOfSoa(first)
    return isWhole ? 'whole' : 'changes'
  }

  #replace(records: readonly ResourceRecord[]): void {
    const lines = records.map(lineOf)
    if (records.length < 2 || lines.at(-1) !== lines[0]) throw new Error('no SOA at the end')
    this.lines.clear()
    for (const line of lines.slice(0, -1)) this.#add(line)
  }

  /** RFC 1995 section 4. */
  #change(records: readonly ResourceRecord[]): void {
    const newest = lineOf(records[0]!)
    let isAdding = true
    for (const [i, record] of records.slice(1).entries()) {
      const line = lineOf(record)
      const isLast = i === records.length - 2
      if (isLast && line !== newest) throw new Error('the last record is not the newest SOA')
      if (isLast) break
      if (record.type === soaType) isAdding = !isAdding
      if (isAdding) this.#add(line)
      else this.#remove(line)
    }
    if (!isAdding || !this.lines.has(newest)) throw new Error('the differences lead elsewhere')
  }

  #add(line: string): void {
    if (this.lines.has(line)) throw new Error(`comes twice: ${line}`)
    this.lines.add(line)
  }

  #remove(line: string): void {
    if (!this.lines.delete(line)) throw new Error(`was not there: ${line}`)
  }
}
