// Explains the rcode of a reply to an update in its OPT record (RFC 8914), and pads it (RFC 8467).
import { EdnsOption, ExtendedError } from '#dns/edns-codes.ts'
import { paddingBlockBytes } from '#answer/edns.ts'
import { HeaderOffset } from '#dns/header.ts'
import { Rcode } from '#dns/rcode.ts'
import type { UpdateOutcome } from '#dns/update/update-outcome.ts'

/** Octets of a reason: a datagram of 512 has room for them beside cookie and signature. */
const reasonBytesMax = 200

const infoCodes: ReadonlyMap<Rcode, number> = new Map<Rcode, number>([
  [Rcode.Refused, ExtendedError.Prohibited],
  [Rcode.NotAuth, ExtendedError.NotAuthoritative],
  [Rcode.NotZone, ExtendedError.NotAuthoritative],
  [Rcode.ServFail, ExtendedError.NotReady],
])

/**
 * @param room of the reply, without its signature
 * @param paddedFor octets of the signature that follows; left out: the reply is not padded
 * @returns where the record ends
 */
export function appendOpt(
  into: Uint8Array,
  at: number,
  opt: Uint8Array,
  { rcode, why }: UpdateOutcome,
  room: number,
  paddedFor?: number,
): number {
  into.set(opt, at)
  into[HeaderOffset.ArCount + 1] = 1
  let end = at + opt.length
  if (why !== '') end = appendReason(into, end, rcode, why, room)
  if (paddedFor !== undefined) end = appendPadding(into, end, room, paddedFor)
  new DataView(into.buffer, into.byteOffset).setUint16(
    at + optHeaderBytes - 2,
    end - at - optHeaderBytes,
  )
  return end
}

function appendReason(
  into: Uint8Array,
  from: number,
  rcode: Rcode,
  why: string,
  room: number,
): number {
  const reason = cutText(why, reasonBytesMax)
  const option = Buffer.alloc(6)
  const text = from + option.length + reason.length > room ? Buffer.alloc(0) : reason
  option.writeUInt16BE(EdnsOption.ExtendedError, 0)
  option.writeUInt16BE(2 + text.length, 2)
  option.writeUInt16BE(infoCodes.get(rcode) ?? ExtendedError.Other, 4)
  into.set(option, from)
  into.set(text, from + option.length)
  return from + option.length + text.length
}

/** The whole message, with its signature, has whole blocks. */
function appendPadding(into: Uint8Array, from: number, room: number, signature: number): number {
  const option = Buffer.alloc(4)
  const start = from + option.length
  if (start > room) return from
  const over = (start + signature) % paddingBlockBytes
  const end = Math.min(over === 0 ? start : start + paddingBlockBytes - over, room)
  option.writeUInt16BE(EdnsOption.Padding, 0)
  option.writeUInt16BE(end - start, 2)
  into.set(option, from)
  into.fill(0, start, end)
  return end
}

/** Whole letters of the text. @returns UTF-8 */
function cutText(text: string, bytesMax: number): Buffer {
  const bytes = Buffer.from(text.toWellFormed())
  let end = Math.min(bytes.length, bytesMax)
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}

/** Root name, type, class, TTL and the length of the data. */
const optHeaderBytes = 11
