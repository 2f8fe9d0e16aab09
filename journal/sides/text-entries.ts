// Encodes TXT records of run time for the journal: when each began to be answered, who wrote it,
// and when it ended.
import { parseName, foldName, formatName } from '#dns/name.ts'
import { OctetReader } from '#journal/format/octets.ts'
import type { OctetWriter } from '#journal/format/octets.ts'
import { dynamicDnsLimits } from '#state/ports/dynamic-dns.ts'
import type { StoredTxtRecord } from '#state/ports/dynamic-dns.ts'

/** The lowest three bits of an entry's first number; what is above them is its subject. */
const Op = {
  /** Milliseconds since the entry before; as in changes.ts. */
  Time: 0,
  /** The next record: its TTL; then name, when, tenant and writer as words, data. */
  Add: 1,
  /** A record that was added, by its number. */
  Remove: 2,
  /** The next word: so many octets. */
  Word: 3,
  /** One of `TextMark`. */
  Mark: 4,
} as const

export const TextMark = {
  /** There is no record, and no word: all of them follow. */
  Begin: 0,
  /** All that there is was written. */
  Whole: 1,
  /** Nothing of what follows is written: the octets of the day are used up. */
  Limit: 2,
} as const

/** Tenants and writers, of which there are few, are written once. */
const wordsMax = 4_096

/** Numbers of records and words, as they were written. */
export class TextWriter {
  readonly #words = new Map<string, number>()
  /** By id. */
  readonly #records = new Map<string, number>()
  #written = 0

  mark(to: OctetWriter, mark: number): void {
    to.varint(mark * 8 + Op.Mark)
    if (mark === TextMark.Begin) this.forget()
  }

  forget(): void {
    this.#words.clear()
    this.#records.clear()
    this.#written = 0
  }

  add(to: OctetWriter, record: StoredTxtRecord): void {
    const { id, name, rdata, ttlSeconds, tenantId, createdAtMs, writtenBy } = record
    const [tenant, writer] = [this.#wordOf(to, tenantId), this.#wordOf(to, writtenBy)]
    to.varint(ttlSeconds * 8 + Op.Add)
    to.text(name)
    to.varint(Math.max(0, Math.floor(createdAtMs)))
    to.varint(tenant)
    to.varint(writer)
    const octets = Buffer.from(rdata, 'base64')
    to.varint(octets.length)
    to.raw(octets)
    this.#records.set(id, this.#written++)
  }

  remove(to: OctetWriter, id: string): void {
    const number = this.#records.get(id)
    if (number === undefined) return
    this.#records.delete(id)
    to.varint(number * 8 + Op.Remove)
  }

  #wordOf(to: OctetWriter, word: string): number {
    const known = this.#words.get(word)
    if (known !== undefined) return known
    if (this.#words.size >= wordsMax) return wordsMax
    const octets = Buffer.from(word)
    to.varint(octets.length * 8 + Op.Word)
    to.raw(octets)
    this.#words.set(word, this.#words.size)
    return this.#words.size - 1
  }
}

/** Follows entries; what they come to is in its fields. */
export class TextReader {
  /** `none`: nothing was written of it. */
  standing: 'none' | 'whole' | 'partly' | 'limit' | 'bad' = 'none'
  #records = new Map<number, StoredTxtRecord>()
  #words: string[] = []
  #added = 0

  records(): readonly StoredTxtRecord[] {
    return [...this.#records.values()]
  }

  /** Entries up to so many milliseconds after the first. */
  follow(from: OctetReader, untilMs: number): void {
    let ms = 0
    while (!from.isAtEnd && this.standing !== 'bad') {
      const first = from.varint()
      const subject = Math.floor(first / 8)
      if (first % 8 === Op.Time) ms += subject
      if (ms > untilMs) return
      if (from.isBad || !this.#take(first % 8, subject, from)) this.standing = 'bad'
    }
  }

  #take(op: number, subject: number, from: OctetReader): boolean {
    switch (op) {
      case Op.Time:
        return true
      case Op.Mark:
        return this.#mark(subject)
      case Op.Word:
        this.#words.push(from.raw(subject).toString('utf8'))
        return !from.isBad
      case Op.Remove:
        return this.#records.delete(subject)
      case Op.Add:
        return this.#add(subject, from)
      default:
        return false
    }
  }

  #mark(mark: number): boolean {
    if (mark === TextMark.Begin) {
      this.#records = new Map()
      this.#words = []
      this.#added = 0
      this.standing = 'partly'
      return true
    }
    this.standing = mark === TextMark.Limit ? 'limit' : 'whole'
    return mark === TextMark.Limit || mark === TextMark.Whole
  }

  #add(ttlSeconds: number, from: OctetReader): boolean {
    const name = from.text()
    const createdAtMs = from.varint()
    const [tenantId = '', writtenBy = ''] = [this.#words[from.varint()], this.#words[from.varint()]]
    const octets = from.raw(from.varint())
    const isGood = isOwner(name) && isText(octets) && ttlSeconds <= ttlMax
    if (from.isBad || !isGood || this.#records.size >= dynamicDnsLimits.recordsMax) return false
    const number = this.#added++
    const rdata = octets.toString('base64')
    const written = { tenantId, createdAtMs, writtenBy }
    this.#records.set(number, { id: String(number), name, rdata, ttlSeconds, ...written })
    return true
  }
}

const ttlMax = 2 ** 31 - 1

/** A name as records have them: a stranger may have written the journal. */
function isOwner(name: string): boolean {
  const parsed = parseName(name)
  return parsed.ok && formatName(foldName(parsed.value)) === name
}

/** Character strings, as a record of the store may have them. RFC 1035 section 3.3.14. */
function isText(octets: Buffer): boolean {
  if (octets.length === 0 || octets.length > dynamicDnsLimits.rdataBytesMax) return false
  let at = 0
  while (at < octets.length) at += 1 + octets[at]!
  return at === octets.length
}

/** Milliseconds from the first entry to the last, and how many there are, up to so many of them. */
export function walkTexts(
  payload: Buffer,
  untilMs = Infinity,
): { readonly ms: number; readonly count: number } {
  const from = new OctetReader(payload)
  let ms = 0
  let count = 0
  while (!from.isAtEnd) {
    const first = from.varint()
    const [op, subject] = [first % 8, Math.floor(first / 8)]
    if (op === Op.Time) ms += subject
    if (ms > untilMs) break
    count++
    if (op === Op.Word) from.raw(subject)
    if (op !== Op.Add) continue
    from.raw(from.varint())
    for (let i = 0; i < 3; i++) from.varint()
    from.raw(from.varint())
  }
  return { ms, count }
}
