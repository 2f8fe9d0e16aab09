// Parses a response: the NS, DS and address records of its three sections.
import { formatAddress } from '#dns/address.ts'
import { Flag1, HeaderOffset, QClass } from '#dns/header.ts'
import { readMessageName, skipMessageName } from '#dns/message-name.ts'
import { foldName, formatName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { delegationLimits } from './limits.ts'

export interface Answered {
  readonly rcode: number
  readonly isAuthoritative: boolean
  readonly isCut: boolean
  readonly answer: readonly AnsweredRecord[]
  readonly authority: readonly AnsweredRecord[]
  readonly additional: readonly AnsweredRecord[]
}

export interface AnsweredRecord {
  /** Lower case, with the final dot. */
  readonly owner: string
  readonly type: number
  /** A name in lower case, an address, or presentation form. */
  readonly text: string
}

/**
 * @param questionEnd end of the question, which was checked
 * @returns undefined: malformed
 */
export function readResponse(message: Buffer, questionEnd: number): Answered | undefined {
  const flags = message[HeaderOffset.Flags1]!
  const head = {
    rcode: message[HeaderOffset.Flags2]! & 0x0f,
    isAuthoritative: (flags & Flag1.Aa) !== 0,
    isCut: (flags & Flag1.Tc) !== 0,
  }
  const sections: AnsweredRecord[][] = []
  let at = Math.min(questionEnd, message.length)
  let left: number = delegationLimits.recordsMax
  for (const offset of [HeaderOffset.AnCount, HeaderOffset.NsCount, HeaderOffset.ArCount]) {
    const section: AnsweredRecord[] = []
    sections.push(section)
    for (let count = message.readUInt16BE(offset); count > 0; count--) {
      if (left-- === 0) return undefined
      const read = readRecord(message, at)
      if (read === undefined) return undefined
      if (read.record !== null) section.push(read.record)
      at = read.end
    }
  }
  const [answer = [], authority = [], additional = []] = sections
  return { ...head, answer, authority, additional }
}

interface ReadRecord {
  /** null: of another type or class. */
  readonly record: AnsweredRecord | null
  readonly end: number
}

function readRecord(message: Buffer, start: number): ReadRecord | undefined {
  const fixed = skipMessageName(message, start)
  if (fixed === -1 || fixed + 10 > message.length) return undefined
  const type = message.readUInt16BE(fixed)
  const data = fixed + 10
  const end = data + message.readUInt16BE(fixed + 8)
  if (end > message.length) return undefined
  if (message.readUInt16BE(fixed + 2) !== QClass.In || !read.has(type)) return { record: null, end }
  const owner = readMessageName(message, start)
  const text = textOf(message, type, data, end)
  if (owner === undefined || text === undefined) return undefined
  return { record: { owner: nameText(owner.wire), type, text }, end }
}

const read: ReadonlySet<number> = new Set([RrType.NS, RrType.DS, RrType.A, RrType.AAAA])

function textOf(message: Buffer, type: number, start: number, end: number): string | undefined {
  const octets = message.subarray(start, end)
  if (type === RrType.A) return octets.length === 4 ? formatAddress(octets) : undefined
  if (type === RrType.AAAA) return octets.length === 16 ? formatAddress(octets) : undefined
  if (type === RrType.DS) return rdataTypeOf(type).print(octets)
  const name = readMessageName(message, start)
  return name?.end === end ? nameText(name.wire) : undefined
}

function nameText(wire: Uint8Array): string {
  return formatName(foldName(wire))
}
