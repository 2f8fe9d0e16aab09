// TXT records that were written at run time, for the journal: those that threads answer, from when
// on they do.
import { journalLimits } from '#journal/format/limits.ts'
import { OctetWriter } from '#journal/format/octets.ts'
import type { StoredTxtRecord, TxtDelta } from '#state/ports/dynamic-dns.ts'
import type { SideLog, SideSource } from './side-log.ts'
import { TextMark, TextWriter } from './text-entries.ts'

/** Hears of records as they change, and of records that are handed to the threads. */
export interface TextsWatch {
  readonly changed: (delta: TxtDelta) => void
  /** @param revision the one of the last change that is answered; null: none of them is */
  readonly served: (revision: number | null) => void
}

/** Changes that wait for their place in answers; more become one. */
const waitingMax = 1_000
/** Octets of a record besides its data: name, times and numbers. */
const headBytes = 64

export class TextSource implements SideSource, TextsWatch {
  readonly #writer = new TextWriter()
  #log: SideLog | undefined
  /** By id. */
  readonly #served = new Map<string, StoredTxtRecord>()
  #bytes = 0
  #waiting: TxtDelta[] = []
  #isNone = false

  writesTo(log: SideLog): void {
    this.#log = log
  }

  changed(delta: TxtDelta): void {
    this.#waiting.push(delta)
    if (this.#waiting.length > waitingMax) this.#waiting = [merged(this.#waiting)]
  }

  served(revision: number | null): void {
    if (revision === null || this.#isNone) this.#serveNone(revision === null)
    const last = this.#waiting.findLastIndex((delta) => delta.revision === revision)
    for (const delta of this.#waiting.splice(0, last + 1)) {
      for (const id of delta.removed) this.#remove(id)
      for (const record of delta.added) this.#add(record)
    }
  }

  /** None are served while the records cannot be encoded, until they can be again. */
  #serveNone(isNone: boolean): void {
    if (isNone === this.#isNone) return
    this.#isNone = isNone
    this.#mark(TextMark.Begin)
    if (!isNone) for (const record of this.#served.values()) this.#write(record)
    this.#mark(TextMark.Whole)
  }

  #remove(id: string): void {
    const record = this.#served.get(id)
    if (record === undefined) return
    this.#served.delete(id)
    this.#bytes -= bytesOf(record)
    const to = this.#isNone ? undefined : this.#log?.entry()
    if (to !== undefined) this.#writer.remove(to, id)
  }

  #add(record: StoredTxtRecord): void {
    this.#remove(record.id)
    this.#served.set(record.id, record)
    this.#bytes += bytesOf(record)
    if (!this.#isNone) this.#write(record)
  }

  #write(record: StoredTxtRecord): void {
    const to = this.#log?.entry()
    if (to !== undefined) this.#writer.add(to, record)
  }

  #mark(mark: number): void {
    const to = this.#log?.entry()
    if (to !== undefined) this.#writer.mark(to, mark)
  }

  estimate(): number {
    return this.#bytes
  }

  whole(): Buffer[] {
    const payloads: Buffer[] = []
    const to = new OctetWriter(4_096)
    this.#writer.mark(to, TextMark.Begin)
    for (const record of this.#isNone ? [] : this.#served.values()) {
      this.#writer.add(to, record)
      if (to.length >= journalLimits.payloadBytes) payloads.push(to.take())
    }
    this.#writer.mark(to, TextMark.Whole)
    payloads.push(to.take())
    return payloads
  }

  writeEnd(to: OctetWriter): void {
    this.#writer.mark(to, TextMark.Limit)
  }

  forget(): void {
    this.#writer.forget()
  }
}

const bytesOf = ({ name, rdata }: StoredTxtRecord): number =>
  headBytes + name.length + Buffer.byteLength(rdata, 'base64')

/** What several changes come to, one after the other. */
function merged(deltas: readonly TxtDelta[]): TxtDelta {
  const added = new Map<string, StoredTxtRecord>()
  const removed = new Set<string>()
  for (const delta of deltas) {
    for (const id of delta.removed) if (!added.delete(id)) removed.add(id)
    for (const record of delta.added) added.set(record.id, record)
  }
  const revision = deltas.at(-1)?.revision ?? 0
  return { revision, added: [...added.values()], removed: [...removed] }
}
