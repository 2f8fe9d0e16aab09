// The head of a reply that has no records: the header, and the question of a query.
import { Flag1, HeaderOffset, Opcode } from '#dns/header.ts'
import { readMessageName } from '#dns/message-name.ts'

/** @returns octets written */
export function writeHead(message: Uint8Array, rcode: number, into: Uint8Array): number {
  const flags = message[HeaderOffset.Flags1]!
  const questionEnd = endOfQuestion(message)
  into.set(message.subarray(0, questionEnd))
  into[HeaderOffset.Flags1] = Flag1.Qr | (flags & (Flag1.OpcodeMask | Flag1.Rd))
  into[HeaderOffset.Flags2] = rcode
  into.fill(0, HeaderOffset.QdCount, HeaderOffset.End)
  if (questionEnd > HeaderOffset.End) into[HeaderOffset.QdCount + 1] = 1
  return questionEnd
}

/** Behind the header where there is no question, not one alone, or none that can be read. */
function endOfQuestion(message: Uint8Array): number {
  const opcode = (message[HeaderOffset.Flags1]! & Flag1.OpcodeMask) >> 3
  const isOne = message[HeaderOffset.QdCount] === 0 && message[HeaderOffset.QdCount + 1] === 1
  if (opcode !== Opcode.Query || !isOne) return HeaderOffset.End
  const name = readMessageName(message, HeaderOffset.End)
  // A pointer leads nowhere from there: nothing that has a name stands before it.
  const isWhole = name !== undefined && name.end - HeaderOffset.End === name.wire.length
  return isWhole && name.end + 4 <= message.length ? name.end + 4 : HeaderOffset.End
}
