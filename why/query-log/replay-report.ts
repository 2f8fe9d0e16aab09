// Reports the replay of a query log: each record with another answer, then a count.
import { answerRecords } from '#judge/sides/answer-records.ts'
import { Flag2, HeaderOffset } from '#dns/header.ts'
import { rcodeNames } from '#dns/rcode.ts'
import type { ReadRecord } from '#answer/query-log/dnstap-reader.ts'
import { recordPlaces } from '#answer/query-log/message-records.ts'
import { recordJson, recordLine } from './print.ts'
import type { Replayed } from './replay.ts'

export class ReplayReport {
  readonly #isJson: boolean
  readonly #unknown = new Map<string, number>()
  #same = 0
  #turns = 0
  #health = 0
  #other = 0
  #records = 0

  constructor(isJson: boolean) {
    this.#isJson = isJson
  }

  get isAllSame(): boolean {
    return this.#records > 0 && this.#same === this.#records
  }

  get records(): number {
    return this.#records
  }

  /** @returns lines about this record; none: the answer was the same */
  add(number: number, record: ReadRecord, replayed: Replayed): string {
    this.#records++
    if (replayed.kind === 'same') {
      this.#same++
      if (replayed.turnsOff > 0) this.#turns++
      if (replayed.healthOffMs !== 0) this.#health++
      return ''
    }
    if (replayed.kind === 'unknown') this.#count(replayed.reason)
    else this.#other++
    if (this.#isJson) return `${jsonOf(number, record, replayed)}\n`
    return replayed.kind === 'unknown' ? '' : otherLines(number, record, replayed)
  }

  summary(): string {
    const unknown = [...this.#unknown].map(([reason, records]) => ({ reason, records }))
    const counts = { records: this.#records, same: this.#same, other: this.#other }
    const beside = { sameByAnotherTurn: this.#turns, sameByHealthAround: this.#health }
    if (this.#isJson) return `${JSON.stringify({ ...counts, ...beside, unknown })}\n`
    const notes = [
      ...(this.#turns === 0 ? [] : [`${this.#turns} by a turn that was taken just before`]),
      ...(this.#health === 0 ? [] : [`${this.#health} by a change that came within 300 ms`]),
    ]
    const isOf = notes.length === 0 ? '' : `, of them ${notes.join(', ')}`
    return [
      `${this.#same} of ${this.#records} the same${isOf}`,
      ...(this.#other === 0 ? [] : [`${this.#other} another answer`]),
      ...unknown.map(({ reason, records }) => `${records} not answered again: ${reason}`),
      '',
    ].join('\n')
  }

  #count(reason: string): void {
    const isRoom = this.#unknown.size < reasonsMax || this.#unknown.has(reason)
    const key = isRoom ? reason : 'other reasons'
    this.#unknown.set(key, (this.#unknown.get(key) ?? 0) + 1)
  }
}

/** Limited, since some reasons contain the time of the record. */
const reasonsMax = 20

function otherLines(
  number: number,
  record: ReadRecord,
  { then, now, causes }: Extract<Replayed, { kind: 'other' }>,
): string {
  const [before, after] = [answerText(then), answerText(now)]
  const isHidden = before === after
  const hidden = `the records are the same, octet ${firstDifference(then, now)} is not`
  const lines = [
    `record ${number}: ${recordLine(record)}`,
    `  then  ${before}`,
    `  now   ${isHidden ? hidden : after}`,
    ...[...new Set(causes)].map((cause) => `  maybe ${cause}`),
    ...(isHidden && causes.length === 0 ? ['  maybe settings under dns: were others then'] : []),
  ]
  return `${lines.join('\n')}\n`
}

function jsonOf(number: number, record: ReadRecord, replayed: Replayed): string {
  const asked = JSON.parse(recordJson(record)) as object
  if (replayed.kind !== 'other') return JSON.stringify({ number, ...replayed, record: asked })
  const { kind, then, now, causes } = replayed
  const both = { then: answerText(then), now: answerText(now) }
  const octets = { nowOctets: Buffer.from(now).toString('base64') }
  return JSON.stringify({ number, kind, ...both, ...octets, causes, record: asked })
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((octet, i) => octet !== b[i])
  return at < 0 ? a.length : at
}

const shownMax = 32

/** The message of a file may be malformed. */
function answerText(message: Uint8Array): string {
  if (message.length < HeaderOffset.End)
    return message.length === 0 ? 'no answer' : 'no DNS message'
  const octets = Buffer.from(message)
  const rcode = octets[HeaderOffset.Flags2]! & Flag2.RcodeMask
  const name = rcodeNames[rcode] ?? `RCODE${rcode}`
  const unreadable = `${name}, with records that cannot be read`
  // The claimed counts are checked first: a header can claim 65,535 records.
  if (recordPlaces(octets) === undefined) return unreadable
  const count = octets.readUInt16BE(HeaderOffset.AnCount)
  try {
    const records = answerRecords(octets, Math.min(count, shownMax))
    const more = count > shownMax ? [`and ${count - shownMax} more`] : []
    return printable([name, ...records, ...more].join('; '))
  } catch {
    return unreadable
  }
}

const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?')
