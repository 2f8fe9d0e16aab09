// Prints the answer and the referral of a DNS message in zone-file format.
import { rdataForms } from '#bundle/format/rrsets.ts'
import { HeaderOffset } from '#dns/header.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'

/** RFC 1035 section 2.3.4: as many labels as a name can hold. */
const labelsMax = 128

interface AnswerRecord {
  readonly owner: string
  readonly type: number
  readonly ttlSeconds: number
  /** Rdata, with all names decompressed. */
  readonly rdata: Uint8Array
}

/**
 * Prints `count` records after one question, such as `www.example.com. 60 IN A 192.0.2.1`.
 *
 * @param message of our own answer path: not for messages of the network
 */
export function answerRecords(message: Uint8Array, count: number): readonly string[] {
  return recordsOf(message, count).map(textOf)
}

/** A referral: NS records in the authority section (RFC 1034 section 4.3.2). */
export interface Referral {
  readonly cut: string
  /** NS records one a line, then the glue. */
  readonly records: readonly string[]
}

/**
 * @returns null: the answer is no referral
 *
 * @param message and count as for `answerRecords`
 */
export function referralOf(message: Uint8Array, count: number): Referral | null {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const authority = view.getUint16(HeaderOffset.NsCount)
  const additional = view.getUint16(HeaderOffset.ArCount)
  const others = recordsOf(message, count + authority + additional).slice(count)
  const [first] = others
  if (authority === 0 || first?.type !== RrType.NS) return null
  return { cut: first.owner, records: others.filter(isNoOption).map(textOf) }
}

const isNoOption = ({ type }: AnswerRecord): boolean => type !== RrType.OPT

function textOf({ owner, type, ttlSeconds, rdata }: AnswerRecord): string {
  const { name, print } = rdataTypeOf(type)
  return `${owner} ${ttlSeconds} IN ${name} ${print(rdata)}`
}

interface RecordText {
  readonly type: number
  readonly ttlSeconds: number
  readonly text: string
}

/**
 * Prints the answer section and `count` records after it.
 *
 * @param message as for `answerRecords`
 */
export function recordTexts(message: Uint8Array, count: number, others: number) {
  const texts = recordsOf(message, count + others).map((one): RecordText => {
    const { type, ttlSeconds } = one
    return { type, ttlSeconds, text: textOf(one) }
  })
  return { answer: texts.slice(0, count), others: texts.slice(count) }
}

/** A CNAME of the answer, also one made of a DNAME. */
interface AliasLink {
  /** Target in wire form. */
  readonly target: Uint8Array
  /** Position among all records. */
  readonly record: number
}

/**
 * Lists aliases in the order in which they are followed.
 *
 * @param message as for `answerRecords`
 */
export function aliasLinks(message: Uint8Array, count: number): readonly AliasLink[] {
  return recordsOf(message, count).flatMap(({ type, rdata }, record) =>
    type === RrType.CNAME ? [{ target: rdata, record }] : [],
  )
}

/** The rdata of the records of one type. @param message as for `answerRecords` */
export function answerRdata(message: Uint8Array, count: number, type: number): Uint8Array[] {
  return recordsOf(message, count).flatMap((one) => (one.type === type ? [one.rdata] : []))
}

function recordsOf(message: Uint8Array, count: number): AnswerRecord[] {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const question = readName(message, HeaderOffset.End)
  let at = question.end + 4
  return Array.from({ length: count }, () => {
    const owner = readName(message, at)
    const type = view.getUint16(owner.end)
    const ttlSeconds = view.getUint32(owner.end + 4)
    const start = owner.end + 10
    at = start + view.getUint16(owner.end + 8)
    const rdata = fullRdata(message, type, start, at)
    return { owner: formatName(owner.wire), type, ttlSeconds, rdata }
  })
}

function fullRdata(message: Uint8Array, type: number, start: number, end: number): Uint8Array {
  const form = rdataForms[type]
  if (form === undefined) return message.subarray(start, end)
  let at = start + form.before
  const parts = [message.subarray(start, at)]
  for (let i = 0; i < form.names; i++) {
    const name = readName(message, at)
    parts.push(name.wire)
    at = name.end
  }
  return Buffer.concat([...parts, message.subarray(at, end)])
}

/**
 * Reads a name and follows its pointers.
 *
 * @returns the name, and the offset after it
 */
function readName(message: Uint8Array, start: number): { wire: Uint8Array; end: number } {
  const labels: Uint8Array[] = []
  let at = start
  let end = -1
  for (let steps = 0; steps < labelsMax; steps++) {
    const octet = message[at]!
    if (octet === 0) break
    if (octet >= 0xc0) {
      if (end < 0) end = at + 2
      at = ((octet & 0x3f) << 8) | message[at + 1]!
      continue
    }
    labels.push(message.subarray(at, at + 1 + octet))
    at += 1 + octet
  }
  const wire = Buffer.concat([...labels, Buffer.of(0)])
  return { wire, end: end < 0 ? at + 1 : end }
}
