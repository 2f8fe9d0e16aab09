// Encodes what browsers measured for the journal: changes of averages, by network and member.
import { rumCodeMax } from '#routing/rum/average.ts'
import { RumKind } from '#routing/rum/table.ts'
import { OctetReader } from '#journal/format/octets.ts'
import type { OctetWriter } from '#journal/format/octets.ts'

/** The lowest three bits of an entry's first number; what is above them is its subject. */
const Op = {
  /** Milliseconds since the entry before; as in changes.ts. */
  Time: 0,
  /** An average of the current network: a member, counted from the one before; then the change. */
  Average: 1,
  /** Makes a network that was named the current one. */
  Network: 2,
  /** Names the next network and makes it the current one: 3 or 6 octets. */
  NewNetwork: 3,
  /** Names the next member: 16 octets of its uid. */
  NewMember: 4,
  /** The current network has no average of this member any more. */
  Forget: 5,
  /** One of `MeasuredMark`. */
  Mark: 6,
} as const

export const MeasuredMark = {
  /** Nothing is named, and no average is known: all of them follow. */
  Begin: 0,
  /** All that there is was written. */
  Whole: 1,
  /** Nothing of what follows is written: the octets of the day are used up. */
  Limit: 2,
} as const

const uidBytes = 16
/** From which a first average is counted: that of 32 ms. */
const firstCode = 21 * 512

/** Small numbers of either sign as small ones without. */
const folded = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2)
const unfolded = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2)

/** Numbers of networks and members, as they were named, and which stood before. */
export class MeasuredWriter {
  readonly #networks = new Map<object, number>()
  readonly #members = new Map<object, number>()
  #named = 0
  #network = -1
  #member = 0

  mark(to: OctetWriter, mark: number): void {
    to.varint(mark * 8 + Op.Mark)
    if (mark === MeasuredMark.Begin) this.forget()
  }

  forget(): void {
    this.#networks.clear()
    this.#members.clear()
    this.#named = 0
    this.#network = -1
    this.#member = 0
  }

  /** @param before its code until now; below 0: there was none */
  average(
    to: OctetWriter,
    network: MeasuredNetwork,
    uid: Uint32Array,
    before: number,
    code: number,
  ): void {
    this.#goTo(to, network)
    this.#subject(to, Op.Average, this.#numberOf(to, uid))
    to.varint(folded(code - (before < 0 ? firstCode : before)))
  }

  /** @param isLast the network has no other average */
  forgotten(to: OctetWriter, network: MeasuredNetwork, uid: Uint32Array, isLast: boolean): void {
    this.#goTo(to, network)
    this.#subject(to, Op.Forget, this.#numberOf(to, uid))
    if (!isLast) return
    this.#networks.delete(network)
    this.#network = -1
  }

  #subject(to: OctetWriter, op: number, member: number): void {
    to.varint(folded(member - this.#member) * 8 + op)
    this.#member = member
  }

  #goTo(to: OctetWriter, network: MeasuredNetwork): void {
    const known = this.#networks.get(network)
    if (known !== undefined && known === this.#network) return
    this.#network = known ?? this.#named++
    if (known !== undefined) return to.varint(known * 8 + Op.Network)
    this.#networks.set(network, this.#network)
    const { high, low } = network
    const isIpv6 = low !== RumKind.V4
    to.varint((isIpv6 ? 6 : 3) * 8 + Op.NewNetwork)
    for (let shift = isIpv6 ? 24 : 16; shift >= 0; shift -= 8) to.u8((high >>> shift) & 0xff)
    if (!isIpv6) return
    to.u8((low >>> 8) & 0xff)
    to.u8(low & 0xff)
  }

  #numberOf(to: OctetWriter, uid: Uint32Array): number {
    const known = this.#members.get(uid)
    if (known !== undefined) return known
    const number = this.#members.size
    this.#members.set(uid, number)
    to.varint(Op.NewMember)
    to.raw(new Uint8Array(uid.buffer, uid.byteOffset, uidBytes))
    return number
  }
}

/** As the table has it; each is one object as long as it has averages. */
export interface MeasuredNetwork {
  readonly high: number
  readonly low: number
}

/** Codes of averages by uid: hexadecimal digits. */
export type MeasuredAverages = ReadonlyMap<string, number>

interface ReadNetwork extends MeasuredNetwork {
  readonly averages: Map<string, number>
}

/** Follows entries; what they come to is in its fields. */
export class MeasuredReader {
  /** `none`: nothing was written of it. */
  standing: 'none' | 'whole' | 'partly' | 'limit' | 'bad' = 'none'
  #networks: ReadNetwork[] = []
  #members: string[] = []
  #network: ReadNetwork | undefined
  #member = 0

  networks(): readonly (MeasuredNetwork & { readonly averages: MeasuredAverages })[] {
    return this.#networks.filter(({ averages }) => averages.size > 0)
  }

  /** Entries up to so many milliseconds after the first. */
  follow(from: OctetReader, untilMs: number): void {
    let ms = 0
    while (!from.isAtEnd) {
      const first = from.varint()
      const subject = Math.floor(first / 8)
      if (first % 8 === Op.Time) ms += subject
      if (ms > untilMs || this.standing === 'bad') return
      if (from.isBad || !this.#take(first % 8, subject, from) || from.isBad) {
        this.standing = 'bad'
      }
    }
  }

  #take(op: number, subject: number, from: OctetReader): boolean {
    switch (op) {
      case Op.Time:
        return true
      case Op.Mark:
        return this.#mark(subject)
      case Op.Network:
        this.#network = this.#networks[subject]
        return this.#network !== undefined
      case Op.NewNetwork:
        return this.#name(from.raw(subject))
      case Op.NewMember:
        this.#members.push(from.raw(uidBytes).toString('hex'))
        return true
      default:
        return this.#average(op, subject, from)
    }
  }

  #mark(mark: number): boolean {
    if (mark === MeasuredMark.Begin) {
      this.#networks = []
      this.#members = []
      this.#network = undefined
      this.#member = 0
      this.standing = 'partly'
      return true
    }
    this.standing = mark === MeasuredMark.Limit ? 'limit' : 'whole'
    return mark === MeasuredMark.Limit || mark === MeasuredMark.Whole
  }

  #name(octets: Buffer): boolean {
    if (octets.length !== 3 && octets.length !== 6) return false
    const network =
      octets.length === 3
        ? { high: octets.readUIntBE(0, 3), low: RumKind.V4 }
        : { high: octets.readUInt32BE(0), low: RumKind.V6 | octets.readUInt16BE(4) }
    this.#network = { ...network, averages: new Map() }
    this.#networks.push(this.#network)
    return true
  }

  #average(op: number, subject: number, from: OctetReader): boolean {
    this.#member += unfolded(subject)
    const uid = this.#members[this.#member]
    const averages = this.#network?.averages
    if (uid === undefined || averages === undefined) return false
    if (op === Op.Forget) return averages.delete(uid)
    if (op !== Op.Average) return false
    const code = (averages.get(uid) ?? firstCode) + unfolded(from.varint())
    if (code < 0 || code > rumCodeMax) return false
    averages.set(uid, code)
    return true
  }
}

/** Milliseconds from the first entry to the last. */
export function measuredLengthMs(payload: Buffer): number {
  return walk(payload, Infinity).ms
}

/** How many entries there are up to so many milliseconds after the first. */
export function measuredCountUntil(payload: Buffer, untilMs: number): number {
  return walk(payload, untilMs).count
}

function walk(payload: Buffer, untilMs: number): { readonly ms: number; readonly count: number } {
  const from = new OctetReader(payload)
  let ms = 0
  let count = 0
  while (!from.isAtEnd) {
    const first = from.varint()
    const [op, subject] = [first % 8, Math.floor(first / 8)]
    if (op === Op.Time) ms += subject
    if (ms > untilMs) break
    count++
    if (op === Op.Average) from.varint()
    if (op === Op.NewNetwork) from.raw(subject)
    if (op === Op.NewMember) from.raw(uidBytes)
  }
  return { ms, count }
}
