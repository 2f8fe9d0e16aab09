// Encodes changes of a routing state: what a member became, which lists were built, and when.
import type { OctetReader, OctetWriter } from './octets.ts'

/** The lowest three bits of an entry's first number; the other bits are its subject. */
const Op = {
  /** Milliseconds since the previous entry. */
  Time: 0,
  /** A member: an octet of `Field` bits, then the values. */
  Member: 1,
  /** The lists of a pool were built from its columns at that time. */
  Built: 2,
  /** The new serial of every zone. */
  Serial: 3,
} as const

/** Bits for the columns of a member that changed. */
const Field = {
  Healthy: 1,
  Score: 2,
  Rtt: 4,
  Weight: 8,
  Out: 16,
  Address: 32,
  /** The value of `Healthy`, which is no column. */
  IsHealthy: 128,
} as const

/** The changed columns of one member. */
export interface MemberChange {
  readonly healthy?: number
  readonly score?: number
  readonly rttMs?: number
  readonly weight?: number
  /** Bits of MemberOut. */
  readonly out?: number
  /** 4 or 16 octets. */
  readonly address?: Uint8Array
}

export type Entry =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'member'; readonly member: number; readonly change: MemberChange }
  | { readonly kind: 'built'; readonly pool: number }
  | { readonly kind: 'serial'; readonly serial: number }

export function writeTime(to: OctetWriter, ms: number): void {
  to.varint(ms * 8 + Op.Time)
}

export function writeBuilt(to: OctetWriter, pool: number): void {
  to.varint(pool * 8 + Op.Built)
}

export function writeSerial(to: OctetWriter, serial: number): void {
  to.varint(serial * 8 + Op.Serial)
}

export function writeMember(to: OctetWriter, member: number, change: MemberChange): void {
  const { healthy, score, rttMs, weight, out, address } = change
  to.varint(member * 8 + Op.Member)
  to.u8(
    (healthy === undefined ? 0 : Field.Healthy) |
      (healthy === 1 ? Field.IsHealthy : 0) |
      (score === undefined ? 0 : Field.Score) |
      (rttMs === undefined ? 0 : Field.Rtt) |
      (weight === undefined ? 0 : Field.Weight) |
      (out === undefined ? 0 : Field.Out) |
      (address === undefined ? 0 : Field.Address),
  )
  if (score !== undefined) to.f32(score)
  if (rttMs !== undefined) to.f32(rttMs)
  if (weight !== undefined) to.varint(weight)
  if (out !== undefined) to.u8(out)
  if (address !== undefined) {
    to.u8(address.length)
    to.raw(address)
  }
}

/** Ends at the end of the octets, or at the first invalid one, with `from.isBad` set. */
export function* readEntries(from: OctetReader): Generator<Entry> {
  while (!from.isAtEnd) {
    const first = from.varint()
    const subject = Math.floor(first / 8)
    let entry: Entry
    switch (first % 8) {
      case Op.Time:
        entry = { kind: 'time', ms: subject }
        break
      case Op.Member:
        entry = { kind: 'member', member: subject, change: readMember(from) }
        break
      case Op.Built:
        entry = { kind: 'built', pool: subject }
        break
      case Op.Serial:
        entry = { kind: 'serial', serial: subject >>> 0 }
        break
      default:
        from.isBad = true
        return
    }
    if (from.isBad) return
    yield entry
  }
}

function readMember(from: OctetReader): MemberChange {
  const fields = from.u8()
  const has = (field: number): boolean => (fields & field) !== 0
  return {
    ...(has(Field.Healthy) ? { healthy: has(Field.IsHealthy) ? 1 : 0 } : {}),
    ...(has(Field.Score) ? { score: from.f32() } : {}),
    ...(has(Field.Rtt) ? { rttMs: from.f32() } : {}),
    ...(has(Field.Weight) ? { weight: from.varint() } : {}),
    ...(has(Field.Out) ? { out: from.u8() } : {}),
    ...(has(Field.Address) ? { address: readAddress(from) } : {}),
  }
}

function readAddress(from: OctetReader): Uint8Array {
  const count = from.u8()
  if (count !== 4 && count !== 16) from.isBad = true
  return from.raw(count)
}
